"""Step 3: the definition of the module, if it is registered and switched on."""

from __future__ import annotations

from apcore.errors import ModuleDisabledError, ModuleNotFoundError
from apcore.ids import validate_canonical_id
from apcore.pipeline import PipelineState
from apcore.registry import Registry
from apcore.toggles import Toggles


class ModuleLookup:
    """One dict lookup, and one for the toggle."""

    def __init__(self, registry: Registry, toggles: Toggles) -> None:
        self._registry = registry
        self._toggles = toggles

    async def run(self, state: PipelineState) -> None:
        """Raises InvalidModuleIdError, ModuleNotFoundError or ModuleDisabledError (§8.2)."""
        try:
            state.definition = self._registry.get_definition(state.module_id)
        except ModuleNotFoundError:
            validate_canonical_id(state.module_id)
            raise
        if self._toggles.is_stale:
            await state.runner.call(self._toggles.refresh)
        if not self._toggles.is_enabled(state.module_id):
            raise ModuleDisabledError(f"Module {state.module_id!r} is disabled", module_id=state.module_id)
