"""How the modules are doing: `system.health.summary` and `system.health.module` (§6.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from apcore.context import Context
from apcore.system.base import COUNT, FAULTS, MILLISECONDS, MODULE_ID, PERIOD, RATE, READ, TIME, closed, hours_of
from apcore.system.ports import SystemApp
from apcore.system.settings import SysModulesSettings
from apcore.telemetry.usage_reports import CallFigures

STATUSES: Final = ("healthy", "degraded", "error", "unknown", "disabled")
"""`disabled` is a module that is switched off, `unknown` one that nobody called in the period, or only in vain.

The others go by the errors that are the module's own (`apcore.telemetry.outcomes.is_fault`), so that no caller can make
a module ill.
"""

_STATUS: Final = {"enum": list(STATUSES)}
_RECENT_ERROR: Final = closed(
    {
        "code": {"type": "string"},
        "kind": {"type": "string"},
        "message": {"type": "string"},
        "where": {"type": "string"},
        "trace_id": {"type": ["string", "null"]},
        "count": COUNT,
        "first_at": TIME,
        "last_at": TIME,
    }
)


_INSTALLATION: Final = {
    "anyOf": [
        {"type": "null"},
        closed(
            {
                "status": {"enum": ["ok", "warn", "error"]},
                "at": TIME,
                "checks": {
                    "type": "array",
                    "items": closed(
                        {
                            "name": {"type": "string"},
                            "status": {"enum": ["ok", "warn", "error"]},
                            "sentence": {"type": "string"},
                            "figures": {"type": "object"},
                        }
                    ),
                },
            }
        ),
    ]
}

CheckInstallation = Callable[[], dict[str, Any]]
"""Looks at what the application runs on: `{"status", "at", "checks": [{"name", "status", "sentence", "figures"}]}`."""


class _Judge:
    """Says how a module is doing, by its calls and by whether it is on."""

    def __init__(self, app: SystemApp, settings: SysModulesSettings) -> None:
        self._app = app
        self._settings = settings

    def status(self, module_id: str, figures: CallFigures | None, degraded_from: float) -> str:
        if not self._app.toggles.is_enabled(module_id):
            return "disabled"
        if figures is None or figures.fault_rate is None:
            return "unknown"
        rate, p99 = figures.fault_rate, figures.p99_latency_ms or 0.0
        if rate > self._settings.error_rate:
            return "error"
        if rate > degraded_from or p99 > self._settings.latency_p99_ms:
            return "degraded"
        return "healthy"


_DEGRADED_FROM: Final = {
    "type": "number",
    "minimum": 0,
    "maximum": 1,
    "default": 0.01,
    "description": "Above this share of calls with an error of the module's own (`fault_rate`) it is degraded",
}


class HealthSummary:
    """`system.health.summary`."""

    description = "How all modules are doing: how many are healthy, degraded, failing, unused or switched off"
    tags = ("system", "health")
    annotations = READ
    input_schema = closed(
        {
            "period": PERIOD,
            "error_rate_threshold": _DEGRADED_FROM,
            "include_healthy": {
                "type": "boolean",
                "default": True,
                "description": "Whether healthy modules are listed; they are counted in any case",
            },
            "include_installation": {
                "type": "boolean",
                "default": True,
                "description": "Whether databases, broker, workers and the like are looked at, where the host can",
            },
        },
        "period",
        "error_rate_threshold",
        "include_healthy",
        "include_installation",
    )
    output_schema = closed(
        {
            "period": {"type": "string"},
            "installation": _INSTALLATION,
            "summary": closed({"total_modules": COUNT, **dict.fromkeys(STATUSES, COUNT)}),
            "modules": {
                "type": "array",
                "items": closed(
                    {
                        "module_id": MODULE_ID,
                        "status": _STATUS,
                        "call_count": COUNT,
                        "error_count": COUNT,
                        "error_rate": RATE,
                        **FAULTS,
                        "p99_latency_ms": MILLISECONDS,
                        "top_error": {
                            "anyOf": [
                                {"type": "null"},
                                closed({"code": {"type": "string"}, "message": {"type": "string"}, "count": COUNT}),
                            ]
                        },
                    }
                ),
            },
        }
    )

    def __init__(
        self, app: SystemApp, settings: SysModulesSettings, check_installation: CheckInstallation | None = None
    ) -> None:
        self._app = app
        self._judge = _Judge(app, settings)
        self._check_installation = check_installation

    def execute(self, inputs: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """Counts by status, an entry for each module, and what the host says of itself."""
        usage = self._app.usage.summary(hours_of(inputs["period"])).modules
        entries = [
            self._entry(module_id, usage.get(module_id), inputs["error_rate_threshold"])
            for module_id in self._app.registry.list()
        ]
        counts = Counter(entry["status"] for entry in entries)
        listed = entries if inputs["include_healthy"] else [each for each in entries if each["status"] != "healthy"]
        return {
            "period": inputs["period"],
            "installation": self._installation() if inputs["include_installation"] else None,
            "summary": {"total_modules": len(entries), **{status: counts[status] for status in STATUSES}},
            "modules": listed,
        }

    def _installation(self) -> dict[str, Any] | None:
        return None if self._check_installation is None else self._check_installation()

    def _entry(self, module_id: str, figures: CallFigures | None, degraded_from: float) -> dict[str, Any]:
        known = {} if figures is None else figures.to_dict()
        return {
            "module_id": module_id,
            "status": self._judge.status(module_id, figures, degraded_from),
            "call_count": known.get("call_count", 0),
            "error_count": known.get("error_count", 0),
            "error_rate": known.get("error_rate"),
            "fault_count": known.get("fault_count", 0),
            "fault_rate": known.get("fault_rate"),
            "p99_latency_ms": known.get("p99_latency_ms"),
            "top_error": self._top_error(module_id) if known.get("error_count") else None,
        }

    def _top_error(self, module_id: str) -> dict[str, Any] | None:
        errors = self._app.error_history.entries(module_id)
        if not errors:
            return None
        top = max(errors, key=lambda each: each.count)
        return {"code": top.code, "message": top.message, "count": top.count}


class HealthModule:
    """`system.health.module`."""

    description = "How one module is doing: calls, errors, latency (p50, p95, p99) and its latest errors"
    tags = ("system", "health")
    annotations = READ
    input_schema = closed(
        {
            "module_id": MODULE_ID,
            "period": PERIOD,
            "error_rate_threshold": _DEGRADED_FROM,
            "error_limit": {
                "type": "integer",
                "minimum": 0,
                "maximum": 100,
                "default": 10,
                "description": "How many kinds of errors are listed, the latest first",
            },
        },
        "period",
        "error_rate_threshold",
        "error_limit",
    )
    output_schema = closed(
        {
            "module_id": MODULE_ID,
            "status": _STATUS,
            "period": {"type": "string"},
            "enabled": {"type": "boolean"},
            "total_calls": COUNT,
            "error_count": COUNT,
            "error_rate": RATE,
            **FAULTS,
            "avg_latency_ms": MILLISECONDS,
            "p50_latency_ms": MILLISECONDS,
            "p95_latency_ms": MILLISECONDS,
            "p99_latency_ms": MILLISECONDS,
            "last_called_at": TIME,
            "recent_errors": {"type": "array", "items": _RECENT_ERROR},
        }
    )

    def __init__(self, app: SystemApp, settings: SysModulesSettings) -> None:
        self._app = app
        self._judge = _Judge(app, settings)

    def execute(self, inputs: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The figures of the period. Raises ModuleNotFoundError."""
        module_id = inputs["module_id"]
        self._app.registry.get_definition(module_id)
        figures = self._app.usage.module(module_id, hours_of(inputs["period"])).figures
        known = figures.to_dict()
        errors = self._app.error_history.entries(module_id, limit=inputs["error_limit"])
        return {
            "module_id": module_id,
            "status": self._judge.status(module_id, figures, inputs["error_rate_threshold"]),
            "period": inputs["period"],
            "enabled": self._app.toggles.is_enabled(module_id),
            "total_calls": known.pop("call_count"),
            **known,
            "recent_errors": [_shown(each.to_dict()) for each in errors],
        }


def _shown(error: Mapping[str, Any]) -> dict[str, Any]:
    return {name: error[name] for name in _RECENT_ERROR["properties"]}
