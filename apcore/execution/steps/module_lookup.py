"""Step 3: the definition of the module, if it is registered and switched on."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from apcore.errors import ModuleDisabledError, ModuleError, ModuleLoadError, ModuleNotFoundError
from apcore.ids import validate_canonical_id
from apcore.modules import ModuleDefinition
from apcore.pipeline import PipelineState
from apcore.registry import Registry
from apcore.toggles import Toggles


class ModuleLookup:
    """One dict lookup, and one for the toggle; the first use of a module may take longer."""

    def __init__(self, registry: Registry, toggles: Toggles) -> None:
        self._registry = registry
        self._toggles = toggles

    def run(self, state: PipelineState) -> Coroutine[Any, Any, None] | None:
        """Raises InvalidModuleIdError, ModuleNotFoundError or ModuleDisabledError (§8.2).

        At the first use of a module that waited for it also ModuleLoadError.
        """
        definition = self._registry.get_loaded(state.module_id)
        if definition is None or self._toggles.is_stale:
            return self._look_closer(state, definition)
        state.definition = definition
        self._require_enabled(state)
        return None

    async def _look_closer(self, state: PipelineState, definition: ModuleDefinition | None) -> None:
        """As ``run()``; a file is imported where other code of modules runs, and not for one that is switched off."""
        if definition is None and not self._registry.has(state.module_id):
            validate_canonical_id(state.module_id)
            definition = self._registry.get_definition(state.module_id)  # raises ModuleNotFoundError
        if definition is not None:
            state.definition = definition
        if self._toggles.is_stale:
            await state.runner.call(self._toggles.refresh)
        self._require_enabled(state)
        if definition is None:
            state.definition = await state.runner.call(self._first_use, state.module_id)

    def _first_use(self, module_id: str) -> ModuleDefinition:
        """Why a file does not load is in the log: the caller, who may be denied yet, learns nothing of it."""
        try:
            return self._registry.get_definition(module_id)
        except ModuleNotFoundError:  # it was unregistered meanwhile
            raise
        except ModuleError:
            raise ModuleLoadError(f"Module {module_id!r} cannot be loaded", module_id=module_id) from None

    def _require_enabled(self, state: PipelineState) -> None:
        if not self._toggles.is_enabled(state.module_id):
            raise ModuleDisabledError(f"Module {state.module_id!r} is disabled", module_id=state.module_id)
