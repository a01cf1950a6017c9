"""How often modules are called: `system.usage.summary` and `system.usage.module` (§6.7, §10.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from apcore.context import Context
from apcore.system.base import COUNT, FAULTS, MILLISECONDS, MODULE_ID, PERIOD, RATE, READ, TIME, closed, hours_of
from apcore.system.ports import SystemApp

_RATES: Final = {
    "error_rate": RATE,
    "avg_latency_ms": MILLISECONDS,
    "p50_latency_ms": MILLISECONDS,
    "p95_latency_ms": MILLISECONDS,
    "p99_latency_ms": MILLISECONDS,
    "last_called_at": TIME,
}
_FIGURES: Final = {"call_count": COUNT, "error_count": COUNT, **_RATES, **FAULTS}
_ERROR_OF_QUANTILES: Final = {
    "type": "number",
    "description": "By which share a quantile may differ from the duration of the call at that rank",
}


class UsageSummary:
    """`system.usage.summary`."""

    description = "How often modules were called in a period, how often they failed, and how long they took"
    tags = ("system", "usage")
    annotations = READ
    input_schema = closed({"period": PERIOD}, "period")
    output_schema = closed(
        {
            "period": {"type": "string"},
            "since": TIME,
            "hours": COUNT,
            "total_calls": COUNT,
            "total_errors": COUNT,
            **_RATES,
            **FAULTS,
            "latency_relative_error": _ERROR_OF_QUANTILES,
            "modules": {"type": "array", "items": closed({"module_id": MODULE_ID, **_FIGURES})},
        }
    )

    def __init__(self, app: SystemApp) -> None:
        self._app = app

    def execute(self, inputs: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The figures of the collector (§10.4). Raises InvalidInputError for a period that is longer than it keeps."""
        return {"period": inputs["period"], **self._app.usage.summary(hours_of(inputs["period"])).to_dict()}


class UsageModule:
    """`system.usage.module`."""

    description = "How often one module was called in a period: in all, by kind of caller, and by the hour"
    tags = ("system", "usage")
    annotations = READ
    input_schema = closed({"module_id": MODULE_ID, "period": PERIOD}, "period")
    output_schema = closed(
        {
            "module_id": MODULE_ID,
            "period": {"type": "string"},
            "since": TIME,
            **_FIGURES,
            "latency_relative_error": _ERROR_OF_QUANTILES,
            "callers": {"type": "object", "additionalProperties": closed(_FIGURES)},
            "trend": {"type": "array", "items": closed({"start": TIME, "hours": COUNT, **_FIGURES})},
        }
    )

    def __init__(self, app: SystemApp) -> None:
        self._app = app

    def execute(self, inputs: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The figures of the collector. Raises ModuleNotFoundError, and InvalidInputError for a bad period."""
        module_id = inputs["module_id"]
        self._app.registry.get_definition(module_id)
        report = self._app.usage.module(module_id, hours_of(inputs["period"])).to_dict()
        return {"period": inputs["period"], **report}
