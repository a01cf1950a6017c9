"""Switching a module off and on: `system.control.toggle_feature` (§6.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from apcore.context import Context
from apcore.errors import InvalidInputError
from apcore.events import core_event
from apcore.modules import Change, PreviewResult
from apcore.system.base import MODULE_ID, REASON, WRITE, author_of, closed
from apcore.system.ports import Controls, SystemApp

TOGGLE_FEATURE: Final = "system.control.toggle_feature"


class ToggleFeature:
    """`system.control.toggle_feature`. `effect` is how a change can be shown before it is made; see `Controls`."""

    description = "Switch a module off, so that every call of it is refused, or on again"
    tags = ("system", "control")
    annotations = WRITE
    input_schema = closed(
        {
            "module_id": MODULE_ID,
            "enabled": {"type": "boolean", "description": "Whether the module may be called"},
            "reason": REASON,
        },
        "reason",
    )
    output_schema = closed(
        {
            "success": {"const": True},
            "module_id": MODULE_ID,
            "enabled": {"type": "boolean"},
            "was_enabled": {"type": "boolean"},
        }
    )

    def __init__(self, app: SystemApp, controls: Controls, effect: str | None = None) -> None:
        self._app = app
        self._controls = controls
        self.effect = effect

    def execute(self, inputs: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """Switch, and tell. Raises ModuleNotFoundError, and InvalidInputError for a switch that none could undo."""
        module_id, enabled = inputs["module_id"], inputs["enabled"]
        was_enabled = self._require(module_id, enabled)
        self._controls.switch(module_id, enabled, author_of(inputs, context))
        event = core_event(
            "apcore.module.toggled",
            {"module_id": module_id, "enabled": enabled},
            severity="info" if enabled else "warn",
            trace_id=context.trace_id,
        )
        self._app.events.emit(event)
        return {"success": True, "module_id": module_id, "enabled": enabled, "was_enabled": was_enabled}

    def preview(self, inputs: Mapping[str, Any], context: Context) -> PreviewResult:
        """What would be switched."""
        module_id, enabled = inputs["module_id"], inputs["enabled"]
        was_enabled = self._require(module_id, enabled)
        summary = f"Switch module {module_id} {'on' if enabled else 'off'}"
        before, after = {"enabled": was_enabled}, {"enabled": enabled}
        return PreviewResult([Change("update", f"toggle:{module_id}", summary, before=before, after=after)])

    def _require(self, module_id: str, enabled: bool) -> bool:
        self._app.registry.get_definition(module_id)
        if module_id == TOGGLE_FEATURE and not enabled:
            raise InvalidInputError(
                f"'{TOGGLE_FEATURE}' cannot switch itself off: nothing could switch it on again",
                module_id=module_id,
                user_fixable=True,
            )
        return self._app.toggles.is_enabled(module_id)
