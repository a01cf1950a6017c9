"""Usage as Prometheus reads it, besides the counters of this process (§10.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from apcore.telemetry.metrics import OTHER
from apcore.telemetry.usage import UsageCollector
from apcore.telemetry.usage_reports import CallFigures

_PERCENTILES: Final[tuple[tuple[str, Callable[[CallFigures], float | None]], ...]] = (
    ("p50", lambda figures: figures.p50_latency_ms),
    ("p95", lambda figures: figures.p95_latency_ms),
    ("p99", lambda figures: figures.p99_latency_ms),
)


@dataclass(frozen=True, slots=True)
class UsageMetrics(Collector):
    """The figures of the last ``hours``, of all processes that share the store, as gauges ``apcore_usage_*``.

    Every process tells the same figures: take the maximum over instances, not the sum. ``most_modules`` bounds how many
    series there are; the modules with the most calls are told, and the rest together as ``module_id="other"``.
    """

    usage: UsageCollector
    hours: int = 24
    most_modules: int = 200

    def describe(self) -> Iterator[Metric]:
        """The families without samples, so that registering this reads no store."""
        return iter(self._families())

    def collect(self) -> Iterator[Metric]:
        """The families as they are now."""
        calls, errors, mean, percentiles, last = families = self._families()
        modules = list(self.usage.summary(self.hours).modules.items())
        for name, figures in modules[: self.most_modules]:
            calls.add_metric([name], figures.call_count)
            errors.add_metric([name], figures.error_count)
            mean.add_metric([name], _seconds(figures.avg_latency_ms))
            for label, value in _PERCENTILES:
                percentiles.add_metric([name, label], _seconds(value(figures)))
            if figures.last_called_at is not None:
                last.add_metric([name], figures.last_called_at.timestamp())
        rest = [figures for _name, figures in modules[self.most_modules :]]
        if rest:
            calls.add_metric([OTHER], sum(each.call_count for each in rest))
            errors.add_metric([OTHER], sum(each.error_count for each in rest))
        return iter(families)

    def _families(self) -> tuple[GaugeMetricFamily, ...]:
        window = f"over the last {self.hours} hours"
        return (
            GaugeMetricFamily("apcore_usage_calls", f"Calls {window}.", labels=["module_id"]),
            GaugeMetricFamily("apcore_usage_errors", f"Calls that failed {window}.", labels=["module_id"]),
            GaugeMetricFamily("apcore_usage_mean_latency_seconds", f"Mean duration {window}.", labels=["module_id"]),
            GaugeMetricFamily(
                "apcore_usage_latency_seconds",
                f"Duration at a percentile of the calls {window}, within 5 %.",
                labels=["module_id", "percentile"],
            ),
            GaugeMetricFamily(
                "apcore_usage_last_call_timestamp_seconds", "When the last call was.", labels=["module_id"]
            ),
        )


def _seconds(milliseconds: float | None) -> float:
    return float("nan") if milliseconds is None else milliseconds / 1000
