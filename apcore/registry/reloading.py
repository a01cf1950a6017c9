"""A new version of a module in the place of the old one (§12.7.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from apcore.discovery import FoundModule, Place
from apcore.errors import ModuleError, ReloadFailedError
from apcore.modules import ModuleDefinition
from apcore.modules.activity import stay
from apcore.registry.admission import admit
from apcore.registry.bulk import Origin, presented
from apcore.registry.draining import drain
from apcore.registry.lifecycle import load, resume, suspend, unload


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What is in place afterwards: the new version, or the old one again with the reason."""

    definition: ModuleDefinition
    origin: Origin
    failure: ReloadFailedError | None = None


def reload(
    old: ModuleDefinition,
    origin: Origin,
    place: Place,
    existing_ids: Collection[str],
    *,
    timeout: float,
    validate: Callable[[ModuleDefinition], None],
) -> Reloaded:
    """Let the calls end, suspend and unload the old instance, import its file anew, and load it with the state.

    ``validate`` raises ModuleError for a version that must not come in.

    Where calls did not end within `timeout` seconds, there is no state: they may still be changing it. Raises
    ReloadFailedError if the old instance, after a failure, does not load again either.
    """
    state = suspend(old) if drain(old, timeout) else None
    unload(old)
    try:
        definition, renewed = _next_version(old.module_id, place, origin, existing_ids)
        validate(definition)
        load(definition)
    except Exception as error:  # noqa: BLE001 - whatever it is, the old instance has to come back
        reason = error.message if isinstance(error, ModuleError) else f"{type(error).__name__}: {error}"
        failure = ReloadFailedError(
            f"Module '{old.module_id}' cannot be reloaded: {reason}", module_id=old.module_id, cause=error
        )
        _bring_back(old, state, failure)
        return Reloaded(old, origin, failure)
    resume(definition, state)
    return Reloaded(definition, renewed)


def _next_version(
    module_id: str, place: Place, origin: Origin, existing_ids: Collection[str]
) -> tuple[ModuleDefinition, Origin]:
    found = place.find_again(module_id)
    definition = admit(module_id, found.module, existing_ids, companion=found.companion, schemas=origin.schemas)
    display = _display(found, origin)
    renewed = replace(origin, companion=found.companion, declared=found.declared, display=display)
    return presented(definition, display), renewed


def _display(found: FoundModule, origin: Origin) -> Mapping[str, Any] | None:
    """What the item says that makes the module, unless another item has spoken about it."""
    if found.declared is None or origin.display not in (None, origin.declared):
        return origin.display
    return found.declared if "display" in found.declared else None


def _bring_back(old: ModuleDefinition, state: Mapping[str, Any] | None, failure: ReloadFailedError) -> None:
    try:
        load(old)
    except ModuleError as error:
        failure.add_note(f"The old instance does not load again either: {error.message}")
        raise failure from error
    stay(old.activity)
    resume(old, state)
