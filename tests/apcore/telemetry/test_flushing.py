"""The timer that writes down what calls left behind."""

import logging
import os
import threading
import time
from collections.abc import Callable

import pytest

from apcore.telemetry.flushing import Flusher


class Kept:
    """A buffer over a list."""

    def __init__(self) -> None:
        self.pending: list[int] = []
        self.written: list[int] = []
        self.threads: set[str] = set()
        self.failures = 0

    @property
    def is_pending(self) -> bool:
        return bool(self.pending)

    def flush(self) -> None:
        self.threads.add(threading.current_thread().name)
        if self.failures:
            self.failures -= 1
            raise ConnectionError("no database")
        while self.pending:
            self.written.append(self.pending.pop(0))

    def start_anew(self) -> None:
        self.pending = []


def until(holds: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    return holds()


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def flusher(kept: Kept) -> Flusher:
    made = Flusher(0.02)
    made.add(kept)
    return made


def test_what_is_pending_is_written_elsewhere_than_in_the_call(flusher: Flusher, kept: Kept) -> None:
    kept.pending.append(1)
    flusher.wake()
    assert until(lambda: kept.written == [1])
    assert kept.threads == {"apcore-flush"}


def test_an_idle_process_has_no_thread_and_the_next_call_starts_one(flusher: Flusher, kept: Kept) -> None:
    for number in (1, 2):
        kept.pending.append(number)
        flusher.wake()
        assert until(lambda: flusher._thread is None)
        assert number in kept.written


def test_many_calls_share_one_thread(flusher: Flusher, kept: Kept) -> None:
    flusher.seconds = 0.5
    kept.pending.append(1)
    flusher.wake()
    thread = flusher._thread
    for _ in range(100):
        flusher.wake()
    assert thread is not None
    assert flusher._thread is thread


def test_a_failure_is_retried_and_told_once(flusher: Flusher, kept: Kept, caplog: pytest.LogCaptureFixture) -> None:
    kept.failures = 3
    kept.pending.append(1)
    with caplog.at_level(logging.INFO, logger="apcore.telemetry"):
        flusher.wake()
        assert until(lambda: kept.written == [1])
    assert [each.levelname for each in caplog.records] == ["WARNING", "INFO"]
    assert "ConnectionError" in caplog.messages[0]
    assert "no database" not in caplog.text


def test_the_end_of_the_process_flushes_and_starts_nothing_more(kept: Kept) -> None:
    flusher = Flusher(3600)
    flusher.add(kept)
    kept.pending.append(1)
    flusher.wake()
    thread = flusher._thread
    assert thread is not None
    flusher.stop()
    assert kept.written == [1]
    thread.join(timeout=10)
    assert not thread.is_alive()
    kept.pending.append(2)
    flusher.wake()
    assert flusher._thread is thread  # and no other


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # newer Pythons warn of any thread
def test_a_forked_child_writes_its_own_and_nothing_of_its_parent(kept: Kept) -> None:
    flusher = Flusher(0.02)
    flusher.add(kept)
    kept.pending.append(1)
    child = os.fork()
    if child == 0:
        ok = kept.pending == []
        kept.pending.append(2)
        flusher.wake()
        ok = ok and until(lambda: kept.written == [2])
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert kept.pending == [1]
