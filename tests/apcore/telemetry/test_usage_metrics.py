"""Usage as Prometheus reads it."""

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from apcore.telemetry.usage import UsageCollector
from apcore.telemetry.usage_metrics import UsageMetrics
from tests.exposition import problems


class Unread(UsageCollector):
    def summary(self, *args: object, **kwargs: object) -> None:  # type: ignore[override]  # whatever it is asked
        raise AssertionError("nobody asked for figures")


def scraped(metrics: UsageMetrics) -> dict[tuple[str, ...], float]:
    registry = CollectorRegistry()
    registry.register(metrics)
    text = generate_latest(registry).decode()
    assert problems(text) == []
    families = text_string_to_metric_families(text)
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def test_the_figures_of_the_window_are_told() -> None:
    usage = UsageCollector(clock=lambda: 1_800_000_000.0)
    for duration in (100, 300):
        usage.record("a.one", caller_type="user", duration_ms=duration)
    usage.record("a.two", caller_type="user", duration_ms=1, error_code="X")
    found = scraped(UsageMetrics(usage))
    assert found["apcore_usage_calls", "a.one"] == 2
    assert found["apcore_usage_errors", "a.two"] == 1
    assert found["apcore_usage_mean_latency_seconds", "a.one"] == 0.2
    assert found["apcore_usage_latency_seconds", "a.one", "p99"] == pytest.approx(0.3, rel=0.05)
    assert found["apcore_usage_last_call_timestamp_seconds", "a.one"] == 1_800_000_000


def test_registering_reads_nothing() -> None:
    CollectorRegistry().register(UsageMetrics(Unread()))


def test_the_number_of_series_is_bounded_and_no_call_is_left_out() -> None:
    usage = UsageCollector()
    for number in range(10):
        for _ in range(number + 1):
            usage.record(f"a.m{number}", caller_type="user", duration_ms=1)
    found = scraped(UsageMetrics(usage, most_modules=3))
    calls = {key[1]: value for key, value in found.items() if key[0] == "apcore_usage_calls"}
    assert calls == {"a.m9": 10, "a.m8": 9, "a.m7": 8, "other": 28}
