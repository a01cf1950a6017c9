"""What is told about usage: figures of calls, by module and by hour (§10.4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from apcore.telemetry.latency import RELATIVE_ERROR, quantile
from apcore.telemetry.usage_rows import SECONDS_PER_HOUR, UsageRow


@dataclass(frozen=True, slots=True)
class CallFigures:
    """Counts and latencies of some calls. Without calls, latencies and the rate are None.

    Times are milliseconds; the average is exact, quantiles differ by at most `RELATIVE_ERROR` (5 %) from the duration
    of the call at that rank. ``last_called_at`` is aware, in UTC. ``fault_count`` are the errors that are the module's
    own, and ``fault_rate`` is their share of the calls without other errors: None where there are no such calls.
    """

    call_count: int
    error_count: int
    error_rate: float | None
    fault_count: int
    fault_rate: float | None
    avg_latency_ms: float | None
    p50_latency_ms: float | None
    p95_latency_ms: float | None
    p99_latency_ms: float | None
    last_called_at: datetime | None

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON: times in ISO 8601, durations to the microsecond."""
        return {name: _plain(value) for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class PeriodUsage:
    """The calls of one hour, or of one day where hours were merged into days. ``start`` is aware, in UTC."""

    start: datetime
    hours: int
    figures: CallFigures

    def to_dict(self) -> dict[str, Any]:
        """``{"start", "hours", "call_count", …}``."""
        return {"start": self.start.isoformat(), "hours": self.hours, **self.figures.to_dict()}


@dataclass(frozen=True, slots=True)
class ModuleUsage:
    """The calls of one module since ``since``: in all, by kind of caller, and by hour, oldest first.

    Hours in which nobody called are left out of ``trend``.
    """

    module_id: str
    since: datetime
    figures: CallFigures
    callers: dict[str, CallFigures]
    trend: tuple[PeriodUsage, ...]

    def to_dict(self) -> dict[str, Any]:
        """The usage as JSON."""
        return {
            "module_id": self.module_id,
            "since": self.since.isoformat(),
            **self.figures.to_dict(),
            "latency_relative_error": RELATIVE_ERROR,
            "callers": {kind: figures.to_dict() for kind, figures in self.callers.items()},
            "trend": [period.to_dict() for period in self.trend],
        }


@dataclass(frozen=True, slots=True)
class UsageSummary:
    """The calls of all modules since ``since``, and of each that was called, most calls first."""

    since: datetime
    hours: int
    figures: CallFigures
    modules: dict[str, CallFigures]

    @property
    def total_calls(self) -> int:
        """All calls."""
        return self.figures.call_count

    @property
    def total_errors(self) -> int:
        """Those that failed."""
        return self.figures.error_count

    @property
    def avg_latency_ms(self) -> float | None:
        """The mean duration of all calls; None without calls."""
        return self.figures.avg_latency_ms

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON; totals by their names of §10.4."""
        totals = self.figures.to_dict()
        return {
            "since": self.since.isoformat(),
            "hours": self.hours,
            "total_calls": totals.pop("call_count"),
            "total_errors": totals.pop("error_count"),
            **totals,
            "latency_relative_error": RELATIVE_ERROR,
            "modules": [{"module_id": name, **each.to_dict()} for name, each in self.modules.items()],
        }


def figures_of(rows: Iterable[UsageRow]) -> CallFigures:
    """The figures of all these rows together."""
    calls = errors = faults = 0
    total_ms = last = 0.0
    bins: Counter[int] = Counter()
    for row in rows:
        calls += row.calls
        errors += row.errors
        faults += row.faults
        total_ms += row.total_ms
        last = max(last, row.last_called_at)
        bins[row.bin] += row.calls
    judged = calls - (errors - faults)
    return CallFigures(
        call_count=calls,
        error_count=errors,
        error_rate=errors / calls if calls else None,
        fault_count=faults,
        fault_rate=faults / judged if judged else None,
        avg_latency_ms=total_ms / calls if calls else None,
        p50_latency_ms=quantile(bins, 0.50),
        p95_latency_ms=quantile(bins, 0.95),
        p99_latency_ms=quantile(bins, 0.99),
        last_called_at=datetime.fromtimestamp(last, UTC) if calls else None,
    )


def summarised(rows: Iterable[UsageRow], *, since: datetime, hours: int) -> UsageSummary:
    """The report over all modules."""
    rows = list(rows)
    modules = {name: figures_of(own) for name, own in _grouped(rows, lambda row: row.module_id).items()}
    ordered = dict(sorted(modules.items(), key=lambda item: (-item[1].call_count, item[0])))
    return UsageSummary(since, hours, figures_of(rows), ordered)


def module_report(module_id: str, rows: Iterable[UsageRow], *, since: datetime) -> ModuleUsage:
    """The report on one module."""
    rows = list(rows)
    callers = _grouped(rows, lambda row: row.caller_type)
    periods = _grouped(rows, lambda row: (row.hour, row.span))
    return ModuleUsage(
        module_id,
        since,
        figures_of(rows),
        {kind: figures_of(callers[kind]) for kind in sorted(callers)},
        tuple(PeriodUsage(start_of(hour), span, figures_of(periods[hour, span])) for hour, span in sorted(periods)),
    )


def start_of(hour: int) -> datetime:
    """When the hour with this number begins, aware, in UTC."""
    return datetime.fromtimestamp(hour * SECONDS_PER_HOUR, UTC)


def _grouped(rows: Iterable[UsageRow], key: Callable[[UsageRow], Any]) -> dict[Any, list[UsageRow]]:
    groups: defaultdict[Any, list[UsageRow]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return round(value, 6) if isinstance(value, float) else value
