"""Tells when a module fails too often or takes too long (§9.16.2)."""

from __future__ import annotations

from typing import ClassVar

from apcore.context import Context
from apcore.errors import ModuleError
from apcore.events import Event, EventEmitter
from apcore.events.core import (
    HEALTH_ERROR_THRESHOLD_EXCEEDED,
    HEALTH_LATENCY_THRESHOLD_EXCEEDED,
    HEALTH_RECOVERED,
    core_event,
)
from apcore.middleware.builtin.timing import TimingMiddleware
from apcore.telemetry.health import HealthChange, HealthMonitor, HealthThresholds
from apcore.telemetry.outcomes import is_fault


class PlatformNotifyMiddleware(TimingMiddleware):
    """Emits an ``apcore.health.*`` event at each crossing of a threshold, and one when the module is well again.

    It does not count calls whose error is not the module's own (`apcore.telemetry.outcomes.is_fault`): whoever may call
    a module could otherwise wake the people who look after it.
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
        super().__init__()
        self._events = events
        self._monitor = monitor or HealthMonitor(thresholds or HealthThresholds())

    def ended(self, module_id: str, context: Context, duration_ms: float, error: ModuleError | None) -> None:
        """Look at it, and tell what changed by it."""
        if error is not None and not is_fault(error, module_id):
            return
        for change in self._monitor.observe(module_id, duration_ms=duration_ms, failed=error is not None):
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
