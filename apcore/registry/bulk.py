"""Admitting many modules at once, in the order of their dependencies (§5.3, §5.15.2)."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from apcore.discovery import Findings, ForetoldModule, FoundModule, Place, resolve_display
from apcore.modules import Companion, ModuleDefinition
from apcore.registry.dependencies import resolve_dependencies
from apcore.schema import SchemaLoader

logger = logging.getLogger("apcore.registry")


@dataclass(frozen=True, slots=True)
class Origin:
    """What made a module, so that the same is not loaded again, and that it can be (§5.15.3, §12.7.3)."""

    file: str
    companion: Companion
    declared: Mapping[str, Any] | None
    place: Place | None
    display: Mapping[str, Any] | None
    schemas: SchemaLoader | None = field(compare=False)


def origin_of(found: FoundModule | ForetoldModule, findings: Findings) -> Origin:
    """The origin of a module that was found, the same before and after its file was imported."""
    display = findings.displays.get(found.module_id)
    if isinstance(found, ForetoldModule):
        return Origin(found.file, found.companion, None, found.place, display, findings.schemas)
    schemas = found.schemas or findings.schemas
    return Origin(found.file, found.companion, found.declared, found.place, display, schemas)


def changed(findings: Findings, known: Mapping[str, Origin]) -> list[FoundModule]:
    """The modules that are new, or of which something beside the code has changed.

    Of those that were foretold only the `known` ones: their files were imported already.
    """
    found = [each for each in findings.found if origin_of(each, findings) != known.get(each.module_id)]
    foretold = [each for each in findings.foretold if each.module_id in known]
    return found + [each.load() for each in foretold if origin_of(each, findings) != known[each.module_id]]


def loading_order(
    findings: Findings, wanted: Collection[FoundModule], available: Mapping[str, str]
) -> list[FoundModule]:
    """The wanted modules in the order in which they are loaded; raises as `resolve_dependencies`.

    A file that failed is an error as well, unless all who depend on it can do without (§5.15.2).
    """
    refuse_failures(findings)
    by_id = {each.module_id: each for each in wanted}
    order = resolve_dependencies(wanted, available=available)
    return [by_id[module_id] for module_id in order]


def refuse_failures(findings: Findings) -> None:
    """Raises the first failure that somebody cares about; the others are its notes. Those nobody needs are logged."""
    dispensable = dispensable_ids(findings)
    grave = [error for module_id, error in findings.failures.items() if module_id not in dispensable]
    for module_id, error in findings.failures.items():
        if module_id in dispensable:
            logger.warning("The optional module '%s' failed to load", module_id, exc_info=error)
    if grave:
        for other in grave[1:]:
            grave[0].add_note(f"Also failed: {other.message}")
        raise grave[0]


def dispensable_ids(findings: Findings) -> set[str]:
    """The modules that others name as optional, that none requires, and that nobody asks for."""
    needs = [need for each in findings.found for need in each.dependencies]
    needs += [need for each in findings.foretold for need in each.dependencies]
    required = {each.module_id for each in needs if not each.optional} | {findings.asked_for}
    return {each.module_id for each in needs if each.optional} - required


def module_to_renew(found: FoundModule, current: Any) -> Any:
    """The same object where the code is the same: only what the files beside it say has changed."""
    return current if inspect.isclass(found.module) else found.module


def presented(definition: ModuleDefinition, item: Mapping[str, Any] | None) -> ModuleDefinition:
    """The definition with its presentation under `metadata["display"]`, resolved here once and for all (§5.13.8).

    A module of which nothing is said keeps its metadata as it is. Raises SchemaValidationError (§5.13.6).
    """
    written = definition.metadata.get("display")
    is_partial = isinstance(written, Mapping) and "alias" not in written
    if item is None and not is_partial and "suggested_alias" not in definition.metadata:
        return definition
    [resolved] = resolve_display([definition], {} if item is None else {definition.module_id: item})
    return replace(definition, metadata={**definition.metadata, "display": resolved.display.to_dict()})
