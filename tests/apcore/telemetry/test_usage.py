"""The collector of usage, and its buffer before the store."""

import json
import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import pytest

from apcore.errors import ConfigError, InvalidInputError
from apcore.telemetry import usage
from apcore.telemetry.flushing import Flusher
from apcore.telemetry.latency import RELATIVE_ERROR
from apcore.telemetry.usage import UsageCollector, UsageSettings, caller_type_of
from apcore.telemetry.usage_rows import MemoryUsageStore, UsageRow

HOUR = 3600
NOON = datetime(2026, 3, 14, 12, tzinfo=UTC).timestamp()


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


class BrokenStore(MemoryUsageStore):
    """Fails as long as it is told to."""

    broken = True

    def add(self, rows: Iterable[UsageRow]) -> None:
        rows = list(rows)
        if self.broken:
            raise ConnectionError
        super().add(rows)


@pytest.fixture
def late() -> Iterator[Flusher]:
    """Does not flush while a test runs, and leaves no thread behind."""
    flusher = Flusher(3600)
    yield flusher
    flusher.stop()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def collector(clock: Clock) -> UsageCollector:
    return UsageCollector(clock=clock)


@pytest.mark.req("R-10.4-01")
def test_calls_are_counted_by_module_and_hour(collector: UsageCollector, clock: Clock) -> None:
    for duration in (10, 20, 30):
        collector.record("a.one", caller_type="user", duration_ms=duration)
    clock.now += HOUR
    collector.record("a.one", caller_type="agent", duration_ms=40, error_code="X")
    collector.record("a.two", caller_type="user", duration_ms=1)

    one = collector.module("a.one")
    assert (one.figures.call_count, one.figures.error_count, one.figures.avg_latency_ms) == (4, 1, 25)
    assert one.figures.error_rate == 0.25
    assert one.figures.p50_latency_ms == pytest.approx(20, rel=RELATIVE_ERROR)
    assert one.figures.p99_latency_ms == pytest.approx(40, rel=RELATIVE_ERROR)
    assert one.figures.last_called_at == datetime.fromtimestamp(NOON + HOUR, UTC)
    assert {kind: each.call_count for kind, each in one.callers.items()} == {"agent": 1, "user": 3}
    assert [(each.start.hour, each.figures.call_count) for each in one.trend] == [(12, 3), (13, 1)]

    summary = collector.summary()
    assert (summary.total_calls, summary.total_errors, summary.avg_latency_ms) == (5, 1, pytest.approx(20.2))
    assert {name: each.call_count for name, each in summary.modules.items()} == {"a.one": 4, "a.two": 1}


def test_a_window_counts_whole_hours(collector: UsageCollector, clock: Clock) -> None:
    collector.record("a.one", caller_type="user", duration_ms=1)
    clock.now += 2 * HOUR
    collector.record("a.one", caller_type="user", duration_ms=1)
    assert collector.summary(2).total_calls == 1
    assert collector.summary(3).total_calls == 2
    assert collector.summary(3).since == datetime.fromtimestamp(NOON, UTC)


def test_reports_are_narrowed_to_a_kind_of_caller(collector: UsageCollector) -> None:
    collector.record("a.one", caller_type="user", duration_ms=1)
    collector.record("a.one", caller_type="agent", duration_ms=1)
    assert collector.summary(caller_type="agent").total_calls == 1
    assert collector.module("a.one", caller_type="user").figures.call_count == 1


def test_a_module_that_nobody_called_has_no_latency(collector: UsageCollector) -> None:
    told = collector.module("a.none").to_dict()
    assert (told["call_count"], told["avg_latency_ms"], told["p99_latency_ms"], told["trend"]) == (0, None, None, [])


def test_reports_are_json(collector: UsageCollector) -> None:
    collector.record("a.one", caller_type="user", duration_ms=1.5)
    assert json.loads(json.dumps(collector.summary().to_dict()))["modules"][0]["module_id"] == "a.one"
    assert json.loads(json.dumps(collector.module("a.one").to_dict()))["trend"][0]["call_count"] == 1


@pytest.mark.parametrize("hours", [0, -1, 10_000_000, True, 1.5])
def test_a_window_that_is_none_is_refused(collector: UsageCollector, hours: int) -> None:
    with pytest.raises(InvalidInputError, match="hours"):
        collector.summary(hours)


def test_old_hours_become_days_and_old_days_go(clock: Clock) -> None:
    collector = UsageCollector(clock=clock, settings=UsageSettings(retention_hours=24, retention_days=2))
    collector.record("a.one", caller_type="user", duration_ms=1)
    clock.now += 25 * HOUR
    collector.record("a.one", caller_type="user", duration_ms=1)
    assert [each.hours for each in collector.module("a.one", 48).trend] == [24, 1]
    assert collector.summary(24).total_calls == 1
    clock.now += 48 * HOUR
    collector.record("a.one", caller_type="user", duration_ms=1)
    assert collector.summary(200).total_calls == 2  # the first day is gone, the second is a day now


def test_threads_lose_nothing(collector: UsageCollector) -> None:
    def call() -> None:
        for _ in range(2_000):
            collector.record("a.one", caller_type="user", duration_ms=1, error_code="X")

    threads = [threading.Thread(target=call) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert collector.summary().total_calls == collector.summary().total_errors == 16_000


def test_what_the_store_refuses_is_kept_and_written_later(clock: Clock, late: Flusher) -> None:
    store = BrokenStore()
    collector = UsageCollector(store, flusher=late, clock=clock)
    collector.record("a.one", caller_type="user", duration_ms=1)
    with pytest.raises(ConnectionError):
        collector.flush()
    collector.record("a.one", caller_type="user", duration_ms=1, error_code="X")
    assert collector.is_pending
    assert collector.summary().total_calls == 2
    store.broken = False
    collector.flush()
    assert not collector.is_pending
    [row] = store.read(0)
    assert (row.calls, row.errors, row.total_ms) == (2, 1, 2)


def test_memory_is_bounded_and_the_loss_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, late: Flusher
) -> None:
    monkeypatch.setattr(usage, "_MOST_PENDING", 3)
    collector = UsageCollector(BrokenStore(), flusher=late)
    with caplog.at_level(logging.WARNING, logger="apcore.telemetry"):
        for number in range(10):
            collector.record(f"a.m{number}", caller_type="user", duration_ms=1)
    assert collector.summary().total_calls == 3
    assert len(caplog.records) == 1


def test_while_a_flush_hangs_calls_go_on() -> None:
    entered, release = threading.Event(), threading.Event()

    class Hanging(MemoryUsageStore):
        def add(self, rows: Iterable[UsageRow]) -> None:
            entered.set()
            assert release.wait(20)
            super().add(rows)

    collector = UsageCollector(Hanging(), flusher=Flusher(0.001))
    collector.record("a.one", caller_type="user", duration_ms=1)
    assert entered.wait(20)
    begun = time.perf_counter()
    collector.record("a.one", caller_type="user", duration_ms=1)
    assert time.perf_counter() - begun < 1
    release.set()
    assert collector.summary().total_calls == 2


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # newer Pythons warn of any thread
def test_a_forked_child_does_not_write_what_its_parent_counted(late: Flusher) -> None:
    collector = UsageCollector(flusher=late)
    collector.record("a.one", caller_type="user", duration_ms=1)
    child = os.fork()
    if child == 0:
        os._exit(0 if not collector.is_pending and not collector.summary().total_calls else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert collector.is_pending


def test_callers_have_a_kind() -> None:
    assert (caller_type_of("agent"), caller_type_of(None), caller_type_of("")) == ("agent", "anonymous", "anonymous")
    assert len(caller_type_of("x" * 100)) == 32


def test_settings_are_read_from_their_section() -> None:
    given = {"enabled": True, "retention_hours": 336, "bucketing_strategy": "hourly"}
    assert UsageSettings.from_mapping(given) == UsageSettings(retention_hours=336)
    with pytest.raises(ConfigError, match="retention_hours"):
        UsageSettings.from_mapping({"retention_hours": 0})
    with pytest.raises(ConfigError, match="bucketing_strategy"):
        UsageSettings.from_mapping({"bucketing_strategy": "daily"})
