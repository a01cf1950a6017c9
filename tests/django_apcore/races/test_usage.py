"""No call goes uncounted and none is counted twice, whatever processes do at once and however they end."""

import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.django_apcore.races.conftest import Arena, Racer

PATIENCE = 30
OFTEN = {"APCORE_TEST_USAGE_FLUSH_SECONDS": "0.1"}
NEVER = {"APCORE_TEST_USAGE_FLUSH_SECONDS": "3600"}
"""Only when the process ends."""

Start = Callable[[dict[str, str]], Racer]


@pytest.fixture
def start(arena: Arena) -> Iterator[Start]:
    """Starts processes that are ended with the test."""
    started: list[Racer] = []

    def start_one(environment: dict[str, str]) -> Racer:
        started.append(arena.start(**environment))
        return started[-1]

    yield start_one
    for racer in started:
        end(racer)


@pytest.fixture(autouse=True)
def nothing_counted(first: Racer) -> None:
    first.do("forget_usage")


@pytest.fixture
def usage(first: Racer) -> Callable[[], Any]:
    return lambda: first.do("usage")


def end(racer: Racer) -> int:
    """Let a process end as programs do."""
    assert racer.process.stdin is not None
    racer.process.stdin.close()
    return racer.process.wait(timeout=PATIENCE)


def wait_until(holds: Callable[[], Any]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(holds())


def test_four_processes_that_flush_at_once_lose_no_call(arena: Arena, start: Start, usage: Callable[[], Any]) -> None:
    racers = [start(OFTEN) for _ in range(4)]
    calls = {"times": 1_000, "wrong": 10}
    for _ in range(3):
        answers = arena.race(*((racer, "call_often", calls) for racer in racers))
        assert all("answer" in each for each in answers), answers
    assert [end(racer) for racer in racers] == [0] * 4
    assert usage() == [12_000, 120]


def test_what_was_counted_reaches_the_database_while_the_process_idles(start: Start, usage: Callable[[], Any]) -> None:
    racer = start(OFTEN)
    for calls in (5, 10):
        racer.do("call_often", times=5)
        assert wait_until(lambda calls=calls: usage() == [calls, 0])


def test_a_process_that_is_told_to_end_writes_all_it_counted(start: Start, usage: Callable[[], Any]) -> None:
    racer = start(NEVER)
    racer.do("call_often", times=50, wrong=5)
    assert usage() == [0, 0]
    racer.process.send_signal(signal.SIGTERM)
    assert racer.process.wait(timeout=PATIENCE) == 128 + signal.SIGTERM
    assert usage() == [50, 5]


def test_a_process_that_is_told_to_end_amid_calls_writes_them(start: Start, usage: Callable[[], Any]) -> None:
    racer = start(NEVER)
    racer.tell("call_until_terminated")
    assert racer.hear() == {"answer": "begun"}
    time.sleep(0.5)
    racer.process.send_signal(signal.SIGTERM)
    called = racer.hear()["answer"]
    racer.process.wait(timeout=PATIENCE)
    assert usage()[0] in (called, called + 1)  # the last may have ended without its caller knowing
    assert called > 10


def test_a_process_that_is_killed_loses_what_it_has_not_flushed_and_no_more(
    start: Start, usage: Callable[[], Any]
) -> None:
    racer = start(OFTEN)
    racer.do("call_often", times=30)
    assert wait_until(lambda: usage() == [30, 0])
    racer.do("call_often", times=20)
    racer.kill()
    assert 30 <= usage()[0] <= 50


def test_calls_in_a_transaction_that_is_undone_count(start: Start, usage: Callable[[], Any]) -> None:
    racer = start(OFTEN)
    racer.do("call_and_roll_back", times=20, for_seconds=1)
    racer.do("call_and_roll_back", times=5)
    assert end(racer) == 0
    assert usage() == [25, 0]


def test_a_lock_that_another_holds_delays_the_flush_and_no_call(
    arena: Arena, start: Start, usage: Callable[[], Any]
) -> None:
    racer, other = start(OFTEN), start(NEVER)
    other.tell("hold_usage", for_seconds=2)
    assert other.hear() == {"answer": "held"}
    begun = time.monotonic()
    longest = max(racer.do("call_often", times=100) for _ in range(8) if time.monotonic() < begun + 1.5)
    assert longest < 1
    assert other.hear() == {"answer": None}
    assert end(racer) == 0
    assert usage()[0] % 100 == 0
    assert usage()[0] >= 100


def test_children_write_their_own_calls_and_none_of_their_parent(start: Start, usage: Callable[[], Any]) -> None:
    racer = start(OFTEN)
    assert racer.do("fork_and_call", children=3, times=7) == [0, 0, 0]
    assert end(racer) == 0
    assert usage() == [28, 0]


def test_while_the_table_is_away_calls_go_on_and_are_written_later(
    first: Racer, start: Start, usage: Callable[[], Any]
) -> None:
    racer = start(OFTEN)
    racer.do("call_often", times=10)
    assert wait_until(lambda: usage() == [10, 0])
    first.do("hide_usage", hidden=True)
    try:
        racer.do("call_often", times=10)
        time.sleep(0.5)
        racer.do("call_often", times=10)
    finally:
        first.do("hide_usage", hidden=False)
    assert wait_until(lambda: usage() == [30, 0])
