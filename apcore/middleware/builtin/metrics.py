"""Counts calls, times them, and counts what failed by code (§10.3, §11.4)."""

from __future__ import annotations

from time import perf_counter
from typing import Any, ClassVar

from apcore.context import is_rehearsal
from apcore.telemetry.metrics import CALLS, DURATION, ERRORS, OTHER, MetricsCollector
from apcore.telemetry.outcomes import error_code_of, is_waiting


class MetricsMiddleware:
    """One count and one observation per call, refused ones included.

    Checks (``validate()``) and rehearsals for a measurement are no calls. The IDs of modules that are not registered
    never become labels: anybody can invent them.
    """

    id: ClassVar[str] = "metrics"
    priority: int = 890

    def __init__(self, collector: MetricsCollector) -> None:
        self._collector = collector

    async def around_call(self, strategy: Any, state: Any, proceed: Any) -> Any:
        """The call, and then its count."""
        if state.dry_run or (state.parent is not None and is_rehearsal(state.parent)):
            return await proceed(strategy, state)
        start = perf_counter()
        try:
            outcome = await proceed(strategy, state)
        except BaseException as error:
            self._count(state, perf_counter() - start, error)
            raise
        if not (state.stopped and state.result is None):  # a call that was only taken part of the way
            self._count(state, perf_counter() - start, None)
        return outcome

    def _count(self, state: Any, seconds: float, error: BaseException | None) -> None:
        collector = self._collector
        module_id = state.module_id if getattr(state, "definition", None) is not None else OTHER
        code = error_code_of(error)
        status = "success" if code is None else "pending" if is_waiting(code) else "error"
        collector.increment(CALLS, {"module_id": module_id, "status": status})
        collector.observe(DURATION, {"module_id": module_id}, seconds)
        if status == "error":
            collector.increment(ERRORS, {"module_id": module_id, "error_code": str(code)})
