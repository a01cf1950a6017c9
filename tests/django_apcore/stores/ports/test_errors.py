"""What every store of errors does, in memory as in the database."""

from dataclasses import replace

import pytest

from apcore.telemetry.error_records import ErrorLimits, ErrorRecord, ErrorStore, MemoryErrorStore
from django_apcore.stores import DatabaseErrorStore

pytestmark = pytest.mark.django_db(transaction=True)

LIMITS = ErrorLimits(per_module=3, in_all=5)


@pytest.fixture(params=[MemoryErrorStore, DatabaseErrorStore])
def store(request: pytest.FixtureRequest) -> ErrorStore:
    made: ErrorStore = request.param()
    return made


def record(number: int = 1, module: str = "a.one", **fields: object) -> ErrorRecord:
    at = 1_000_000.25 + number
    made = ErrorRecord(f"{module}-{number}", module, "CODE", "KeyError", "It fails", "a.py:1 in a", "t1", 1, at, at)
    return replace(made, **fields)  # type: ignore[arg-type]  # fields by name


def test_what_is_added_can_be_read_the_latest_first(store: ErrorStore) -> None:
    store.add([record(1), record(3), record(2)], LIMITS)
    assert store.read() == [record(3), record(2), record(1)]
    assert store.read(limit=1) == [record(3)]


def test_errors_of_one_kind_add_up(store: ErrorStore) -> None:
    store.add([record()], LIMITS)
    store.add([record(count=2, trace_id="t2", message="Later", first_at=5.0, last_at=2_000_000.0)], LIMITS)
    store.add([record(count=4, trace_id="t0", message="Earlier", first_at=9.0, last_at=10.0)], LIMITS)
    assert store.read() == [record(count=7, trace_id="t2", message="Later", first_at=5.0, last_at=2_000_000.0)]


def test_reading_is_narrowed_to_a_module(store: ErrorStore) -> None:
    store.add([record(), record(module="a.two")], LIMITS)
    assert [each.module_id for each in store.read(module_id="a.two")] == ["a.two"]
    assert store.read(module_id="a.none") == []


def test_past_the_limits_the_oldest_go(store: ErrorStore) -> None:
    store.add([record(number) for number in range(4)], LIMITS)
    assert [each.last_at for each in store.read()] == [record(number).last_at for number in (3, 2, 1)]
    for number in range(10, 13):
        store.add([record(number, module="a.two")], LIMITS)
    assert [each.fingerprint for each in store.read()] == ["a.two-12", "a.two-11", "a.two-10", "a.one-3", "a.one-2"]


def test_an_error_without_a_trace_has_none(store: ErrorStore) -> None:
    store.add([record(trace_id=None)], LIMITS)
    assert store.read()[0].trace_id is None


def test_text_that_a_database_refuses_is_stored_all_the_same(store: ErrorStore) -> None:
    store.add([record(message="a\0b\ud800c")], LIMITS)
    assert store.read()[0].message.startswith("a")
