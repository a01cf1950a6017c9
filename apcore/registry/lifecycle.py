"""The hooks that a module has around its life in a registry (§5.6, §5.15.3)."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from apcore.context import Context
from apcore.errors import ModuleLoadError
from apcore.modules import ModuleDefinition
from apcore.schema import canonical_json

logger = logging.getLogger("apcore.registry")


_HOOKS: Final = ("on_load", "on_unload", "on_suspend", "on_resume")


def load(definition: ModuleDefinition) -> None:
    """Call `on_load()`. Raises ModuleLoadError if it fails, or if one of the hooks is async (§5.15.3)."""
    for name in _HOOKS:
        hook = getattr(definition.module, name, None)
        if hook is not None and inspect.iscoroutinefunction(hook):
            raise ModuleLoadError(
                f"{name}() of module '{definition.module_id}' is async; nobody would await it",
                module_id=definition.module_id,
                suggestion=f"Write it as `def {name}`",
            )
    hook = getattr(definition.module, "on_load", None)
    if not callable(hook):
        return
    try:
        hook(*_arguments(hook))
    except Exception as error:
        raise ModuleLoadError(
            f"on_load() of module '{definition.module_id}' raised {type(error).__name__}",
            module_id=definition.module_id,
            cause=error,
        ) from error


def unload(definition: ModuleDefinition) -> None:
    """Call `on_unload()`; a failure is logged, the module goes anyway (§5.15.3)."""
    hook = getattr(definition.module, "on_unload", None)
    if not callable(hook):
        return
    try:
        hook()
    except Exception:
        logger.exception("on_unload() of module '%s' failed", definition.module_id)


def suspend(definition: ModuleDefinition) -> Mapping[str, Any] | None:
    """The state that `on_suspend()` hands over, None without one; a failure is logged, the state is lost (§12.7.3)."""
    hook = getattr(definition.module, "on_suspend", None)
    if not callable(hook):
        return None
    try:
        state: Mapping[str, Any] | None = hook()
        if state is not None:
            if not isinstance(state, Mapping):
                raise TypeError(f"on_suspend() returns a dict or None, not {type(state).__name__}")
            canonical_json(state)
    except Exception:
        logger.exception("on_suspend() of module '%s' failed, its state is lost", definition.module_id)
        return None
    return state


def resume(definition: ModuleDefinition, state: Mapping[str, Any] | None) -> None:
    """Hand the state to `on_resume()`, if there is both; a failure is logged, the module starts afresh (§12.7.3)."""
    hook = getattr(definition.module, "on_resume", None)
    if state is None or not callable(hook):
        return
    try:
        hook(state)
    except Exception:
        logger.exception("on_resume() of module '%s' failed", definition.module_id)


def _arguments(hook: Callable[..., Any]) -> tuple[Context, ...]:
    """Nothing, or a fresh context for a hook that asks for one, as some samples of the protocol do (C-43)."""
    required = [each for each in inspect.signature(hook).parameters.values() if each.default is each.empty]
    positional = [each for each in required if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return (Context.create(),) if positional else ()
