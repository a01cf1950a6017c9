"""Crossing a threshold is told once, and the way back once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore import Config
from apcore.errors import ConfigError
from apcore.telemetry.health import HealthChange, HealthMonitor, HealthThresholds


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def drive(monitor: HealthMonitor, outcomes: str, duration_ms: float = 1.0) -> list[str]:
    """`x` fails, `.` succeeds."""
    changes: list[HealthChange] = []
    for outcome in outcomes:
        changes += monitor.observe("a.one", duration_ms=duration_ms, failed=outcome == "x")
    return [change.kind for change in changes]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def monitor(clock: Clock) -> HealthMonitor:
    return HealthMonitor(HealthThresholds(), clock=clock)


def test_a_rate_at_the_threshold_is_no_alarm_and_above_it_is_one(monitor: HealthMonitor) -> None:
    assert drive(monitor, "." * 9 + "x") == []
    assert drive(monitor, "x" * 5) == ["errors"]


def test_recovery_needs_less_than_half_of_the_threshold(monitor: HealthMonitor) -> None:
    assert drive(monitor, "x") == ["errors"]
    assert drive(monitor, "." * 19) == []  # 1 of 20: at half of it
    assert drive(monitor, ".") == ["recovered"]
    assert drive(monitor, "." * 50) == []
    assert drive(monitor, "x" * 10) == ["errors"]


def test_a_rate_around_the_threshold_does_not_flicker(monitor: HealthMonitor) -> None:
    assert drive(monitor, ("." * 9 + "x" + "." * 8 + "x") * 20) == ["errors"]


def test_slow_calls_are_told_by_their_99th_percentile(monitor: HealthMonitor) -> None:
    assert drive(monitor, "." * 150) == []
    assert drive(monitor, ".", 5000) == []
    assert drive(monitor, ".", 5001) == []  # 1 of 152, 2 of 153: p99 is one of the others
    [change] = monitor.observe("a.one", duration_ms=6000, failed=False)
    assert (change.kind, change.p99_latency_ms) == ("latency", 5001)
    assert drive(monitor, "." * 190) == []
    assert drive(monitor, "." * 20) == ["recovered"]


def test_what_is_long_ago_does_not_count(monitor: HealthMonitor, clock: Clock) -> None:
    assert drive(monitor, "xxx") == ["errors"]
    clock.now = 301
    assert drive(monitor, ".") == ["recovered"]


def test_recovery_in_both_respects_is_told_once(monitor: HealthMonitor, clock: Clock) -> None:
    assert drive(monitor, "x", 6000) == ["errors", "latency"]
    clock.now = 301
    assert drive(monitor, ".") == ["recovered"]


def test_a_threshold_of_zero_can_be_recovered_from(clock: Clock) -> None:
    monitor = HealthMonitor(HealthThresholds(error_rate=0), clock=clock)
    assert drive(monitor, "x") == ["errors"]
    clock.now = 301
    assert drive(monitor, ".") == ["recovered"]


def test_a_few_calls_may_be_too_few_to_judge(clock: Clock) -> None:
    monitor = HealthMonitor(HealthThresholds(minimum_calls=10), clock=clock)
    assert drive(monitor, "x" * 9) == []
    assert drive(monitor, "x") == ["errors"]


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 20_000), st.floats(0, 100)), max_size=400))
def test_alarms_and_recoveries_take_turns_and_agree_with_a_plain_count(
    calls: list[tuple[bool, float, float]],
) -> None:
    clock, alarms = Clock(), 0
    monitor = HealthMonitor(HealthThresholds(window_calls=20), clock=clock)
    window: list[tuple[bool, float, float]] = []
    for failed, duration, pause in calls:
        clock.now += pause
        window = [each for each in [*window, (failed, duration, clock.now)] if each[2] >= clock.now - 300][-20:]
        rate = sum(each[0] for each in window) / len(window)
        for change in monitor.observe("a.one", duration_ms=duration, failed=failed):
            assert change.error_rate == rate
            assert change.p99_latency_ms == sorted(each[1] for each in window)[-1]  # of at most 20
            if change.kind == "recovered":
                assert alarms
                assert rate < 0.05 or alarms == 2
                alarms = 0 if alarms == 1 else alarms
            else:
                alarms += 1
                assert rate > 0.1 if change.kind == "errors" else change.p99_latency_ms > 5000


@pytest.mark.parametrize(
    "wrong",
    [{"error_rate": 2}, {"error_rate": "x"}, {"latency_p99_ms": -1}, {"window_calls": 0}, {"window_seconds": 0}],
)
def test_what_is_no_threshold_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        HealthThresholds(**wrong)


@pytest.mark.req("R-9.15.3-03")
@pytest.mark.parametrize(
    ("notify", "events", "by_system_modules", "expected"),
    [
        ({}, {}, True, (0.1, 5000.0)),
        ({"error_rate_threshold": 0.2}, {"error_rate": 0.3}, True, (0.3, 5000.0)),
        ({"error_rate_threshold": 0.2}, {"error_rate": 0.3}, False, (0.2, 5000.0)),
        ({"error_rate_threshold": 0.2}, {}, True, (0.2, 5000.0)),
        ({}, {"latency_p99_ms": 7.0}, False, (0.1, 7.0)),
        ({"error_rate_threshold": 0.1}, {"error_rate": 0.3}, False, (0.1, 5000.0)),  # set, if to the default
    ],
)
def test_one_order_of_precedence_decides_between_the_two_sections(
    notify: dict[str, Any], events: dict[str, Any], by_system_modules: bool, expected: tuple[float, float]
) -> None:
    data = {
        "apcore": {"extensions": {"auto_discover": False}},
        "observability": {"platform_notify": notify},
        "sys_modules": {"events": {"thresholds": events}},
    }
    found = HealthThresholds.from_config(Config.from_dict(data), installed_by_system_modules=by_system_modules)
    assert (found.error_rate, found.latency_p99_ms) == expected


def test_how_much_is_looked_at_can_be_configured() -> None:
    ours = {"window_calls": 10, "window_seconds": 5, "minimum_calls": 3}
    found = HealthThresholds.from_config(Config.from_dict({"observability": {"platform_notify": ours}}))
    assert (found.window_calls, found.window_seconds, found.minimum_calls) == (10, 5, 3)
