"""Tells when a module fails too often or takes too long (§9.16.2)."""

from __future__ import annotations

from typing import Any, ClassVar

from apcore.context import Context, is_rehearsal
from apcore.errors import ErrorCodes, ModuleError
from apcore.events import Event, EventEmitter
from apcore.events.core import (
    HEALTH_ERROR_THRESHOLD_EXCEEDED,
    HEALTH_LATENCY_THRESHOLD_EXCEEDED,
    HEALTH_RECOVERED,
    core_event,
)
from apcore.middleware.base import Middleware
from apcore.telemetry.health import HealthChange, HealthMonitor, HealthThresholds
from apcore.telemetry.stopwatch import Stopwatch


class PlatformNotifyMiddleware(Middleware):
    """Emits an ``apcore.health.*`` event at each crossing of a threshold, and one when the module is well again.

    It stands innermost, like `UsageMiddleware`, and like it counts no run that will be undone. Nor does it count what
    the module has no part in: inputs that its schema refuses, a caller that left, a call that waits for a person.
    """

    id: ClassVar[str] = "platform_notify"
    priority: int = 20

    def __init__(
        self,
        events: EventEmitter,
        thresholds: HealthThresholds | None = None,
        *,
        monitor: HealthMonitor | None = None,
    ) -> None:
        self._events = events
        self._monitor = monitor or HealthMonitor(thresholds or HealthThresholds())
        self._watch = Stopwatch(self.id)

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:
        """Start the clock."""
        if not is_rehearsal(context):
            self._watch.start(context)

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> None:
        """Count a success."""
        self._observe(module_id, context, failed=False)

    def on_error(self, module_id: str, inputs: dict[str, Any], error: ModuleError, context: Context) -> None:
        """Count a failure, unless the module had succeeded and something further out failed."""
        if _is_of_others(error, module_id):
            self._watch.stop(context)
        else:
            self._observe(module_id, context, failed=True)

    def _observe(self, module_id: str, context: Context, *, failed: bool) -> None:
        duration = self._watch.stop(context)
        if duration is None:
            return
        for change in self._monitor.observe(module_id, duration_ms=duration, failed=failed):
            self._events.emit(self._event(change, context))

    def _event(self, change: HealthChange, context: Context) -> Event:
        limits = self._monitor.thresholds
        match change.kind:
            case "errors":
                name = HEALTH_ERROR_THRESHOLD_EXCEEDED
                data = {"error_rate": change.error_rate, "threshold": limits.error_rate}
            case "latency":
                name = HEALTH_LATENCY_THRESHOLD_EXCEEDED
                data = {"p99_latency_ms": change.p99_latency_ms, "threshold": limits.latency_p99_ms}
            case _:
                name, data = HEALTH_RECOVERED, {"error_rate": change.error_rate}
        return core_event(name, {"module_id": change.module_id, **data}, trace_id=context.trace_id)


def _is_of_others(error: ModuleError, module_id: str) -> bool:
    """Whoever may call a module could otherwise wake the people who look after it."""
    if error.code in (ErrorCodes.APPROVAL_PENDING, ErrorCodes.EXECUTION_CANCELLED):
        return True
    return error.details.get("step") == "input_validation" and error.module_id == module_id
