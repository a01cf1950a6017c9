"""Step 3: the definition of the module, if it is registered and switched on."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

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

    def run(self, state: PipelineState) -> Coroutine[Any, Any, None] | None:
        """Raises InvalidModuleIdError, ModuleNotFoundError or ModuleDisabledError (§8.2)."""
        try:
            state.definition = self._registry.get_definition(state.module_id)
        except ModuleNotFoundError:
            validate_canonical_id(state.module_id)
            raise
        if self._toggles.is_stale:
            return self._refresh(state)
        self._require_enabled(state)
        return None

    async def _refresh(self, state: PipelineState) -> None:
        await state.runner.call(self._toggles.refresh)
        self._require_enabled(state)

    def _require_enabled(self, state: PipelineState) -> None:
        if not self._toggles.is_enabled(state.module_id):
            raise ModuleDisabledError(f"Module {state.module_id!r} is disabled", module_id=state.module_id)
