"""What is remembered of errors, and what is not."""

import json
from collections.abc import Iterator

import pytest

from apcore.errors import ConfigError, ModuleError, ModuleExecuteError
from apcore.redaction import SensitiveValues
from apcore.telemetry.error_history import ErrorHistory, limits_from
from apcore.telemetry.error_records import ErrorLimits, MemoryErrorStore
from apcore.telemetry.flushing import Flusher


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def late() -> Iterator[Flusher]:
    """Does not flush while a test runs, and leaves no thread behind."""
    flusher = Flusher(3600)
    yield flusher
    flusher.stop()


@pytest.fixture
def history() -> ErrorHistory:
    return ErrorHistory(clock=Clock())


def fail(text: str) -> ModuleError:
    try:
        raise KeyError(text)
    except KeyError as error:
        return ModuleExecuteError("Module 'a.one' failed: unexpected error (KeyError)", cause=error)


def test_the_same_error_is_one_entry_with_a_count(history: ErrorHistory) -> None:
    for trace in ("t1", "t2", "t3"):
        history.record("a.one", fail("x"), trace_id=trace)
    [entry] = history.entries()
    assert (entry.count, entry.trace_id, entry.kind, entry.code) == (3, "t3", "KeyError", "MODULE_EXECUTE_ERROR")
    assert entry.last_at - entry.first_at == 2
    assert entry.where.endswith("in fail")
    assert "test_error_history.py" in entry.where


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Row 1234 is gone", "Row 98765 is gone"),
        ("No 0f8fad5b-d9cb-469f-a165-70867728950e", "No 7c9e6679-7425-40de-944b-e07fc1f90ae7"),
        ("Late since 2026-01-02T03:04:05Z", "Late since 2025-12-31T00:00:00.5+01:00"),
    ],
)
def test_numbers_of_rows_make_no_other_error(history: ErrorHistory, one: str, other: str) -> None:
    history.record("a.one", ModuleError(one))
    history.record("a.one", ModuleError(other))
    assert [(entry.count, entry.message) for entry in history.entries()] == [(2, other)]


@pytest.mark.parametrize("other", [ModuleError("b"), ModuleError("a", code="OTHER"), fail("x")])
def test_another_message_code_or_kind_is_another_error(history: ErrorHistory, other: ModuleError) -> None:
    history.record("a.one", ModuleError("a"))
    history.record("a.one", other)
    history.record("a.two", ModuleError("a"))
    assert len(history.entries()) == 3
    assert [entry.module_id for entry in history.entries("a.two")] == ["a.two"]


@pytest.mark.req("R-9.15.2-05")
def test_fifty_of_a_module_and_a_thousand_in_all_are_kept(history: ErrorHistory) -> None:
    for number in range(51):
        history.record("a.one", ModuleError(f"error {number}"))
    kept = history.entries("a.one")
    assert (len(kept), kept[0].message, kept[-1].message) == (50, "error 50", "error 1")
    for module in range(21):
        for number in range(50):
            history.record(f"b.m{module}", ModuleError(f"error {number}"))
    assert len(history.entries()) == 1000
    assert history.entries("a.one") == []


def test_an_error_that_comes_again_is_not_old(history: ErrorHistory) -> None:
    for text in ("first", *map(str, range(49)), "first", "new"):
        history.record("a.one", ModuleError(text))
    assert {"first", "new"} <= {entry.message for entry in history.entries("a.one")}
    assert "0" not in {entry.message for entry in history.entries("a.one")}


def test_no_secret_is_kept(history: ErrorHistory) -> None:
    secrets = SensitiveValues({"password": "hunter22"})
    history.record("a.one", fail("hunter22"), secrets=secrets)
    history.record("a.one", ModuleError("hunter22 does not fit", details={"tried": "hunter22"}), secrets=secrets)
    history.record("a.one", ValueError("hunter22"))
    history.record("a.one", ModuleError("No answer from postgres://ada:hunter22@db, password: hunter22"))
    assert "hunter22" not in json.dumps([entry.to_dict() for entry in history.entries()])
    assert len(history.entries()) == 4


def test_a_long_message_is_cut(history: ErrorHistory) -> None:
    assert len(history.record("a.one", ModuleError("x" * 10_000)).message) == 500


def test_with_a_flusher_errors_reach_the_store_later_and_are_told_at_once(late: Flusher) -> None:
    store = MemoryErrorStore()
    history = ErrorHistory(store, flusher=late, clock=Clock())
    history.record("a.one", ModuleError("a"))
    history.flush()
    history.record("a.one", ModuleError("a"))
    assert store.read()[0].count == 1
    assert [entry.count for entry in history.entries("a.one", limit=1)] == [2]
    history.flush()
    assert store.read()[0].count == 2
    assert not history.is_pending


def test_what_the_store_refuses_is_kept(late: Flusher) -> None:
    class Broken(MemoryErrorStore):
        def add(self, *args: object) -> None:
            raise ConnectionError

    history = ErrorHistory(Broken(), flusher=late)
    history.record("a.one", ModuleError("a"))
    with pytest.raises(ConnectionError):
        history.flush()
    assert history.is_pending
    assert history.entries()[0].count == 1


def test_limits_are_read_from_their_section() -> None:
    assert limits_from({}) == ErrorLimits(50, 1000)
    assert limits_from({"max_entries_per_module": 5, "max_total_entries": 10}) == ErrorLimits(5, 10)
    with pytest.raises(ConfigError, match="error_history"):
        limits_from({"max_total_entries": 0})
