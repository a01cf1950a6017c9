"""What every store of usage does, in memory as in the database."""

import threading

import pytest

from apcore.telemetry.usage_rows import MemoryUsageStore, UsageRow, UsageStore
from django_apcore.stores import DatabaseUsageStore

pytestmark = pytest.mark.django_db(transaction=True)

DAY = 24 * 20_000
"""An hour that begins a day."""


@pytest.fixture(params=[MemoryUsageStore, DatabaseUsageStore])
def store(request: pytest.FixtureRequest) -> UsageStore:
    made: UsageStore = request.param()
    return made


def row(hour: int = DAY, **fields: object) -> UsageRow:
    known = {"module_id": "a.one", "caller_type": "user", "bin": 7, "calls": 1, "errors": 0, "total_ms": 2.5}
    return UsageRow(hour=hour, **{"last_called_at": hour * 3600.25, **known, **fields})  # type: ignore[arg-type]  # fields by name


def test_what_is_added_can_be_read(store: UsageStore) -> None:
    rows = [row(), row(bin=-69), row(bin=183, caller_type="agent"), row(module_id="a.two"), row(DAY + 1, errors=1)]
    store.add(rows)
    assert sorted(store.read(0), key=repr) == sorted(rows, key=repr)


def test_calls_of_one_bucket_add_up(store: UsageStore) -> None:
    store.add([row(last_called_at=50.0)])
    store.add([row(calls=4, errors=3, faults=1, total_ms=1.5, last_called_at=40.0)])
    store.add([row(errors=1, faults=1)])
    assert store.read(0) == [row(calls=6, errors=4, faults=2, total_ms=6.5, last_called_at=DAY * 3600.25)]


def test_nothing_is_added_by_nothing(store: UsageStore) -> None:
    store.add([])
    assert store.read(0) == []


def test_many_rows_fit_into_one_flush(store: UsageStore) -> None:
    store.add([row(bin=number) for number in range(-69, 184)])
    assert len(store.read(0)) == 253


def test_reading_is_narrowed(store: UsageStore) -> None:
    store.add([row(DAY), row(DAY + 5), row(DAY + 5, module_id="a.two"), row(DAY + 6, caller_type="agent")])
    assert [each.hour for each in store.read(DAY + 6)] == [DAY + 6]
    assert len(store.read(DAY + 5)) == 3
    assert [each.hour for each in store.read(DAY, module_id="a.two")] == [DAY + 5]
    assert [each.hour for each in store.read(DAY, caller_type="agent")] == [DAY + 6]


def test_old_hours_become_days(store: UsageStore) -> None:
    store.add(
        [row(DAY), row(DAY + 23, calls=4, errors=2, faults=1), row(DAY + 23, bin=8), row(DAY + 24), row(DAY + 30)]
    )
    assert store.prune(hours_before=DAY + 30, days_before=0) == 4
    found = {(each.hour - DAY, each.span, each.bin): (each.calls, each.errors, each.faults) for each in store.read(0)}
    assert found == {(0, 24, 7): (5, 2, 1), (0, 24, 8): (1, 0, 0), (24, 24, 7): (1, 0, 0), (30, 1, 7): (1, 0, 0)}
    assert store.prune(hours_before=DAY + 30, days_before=0) == 0


def test_an_hour_that_comes_late_is_added_to_its_day(store: UsageStore) -> None:
    for _ in range(2):
        store.add([row(DAY + 3)])
        store.prune(hours_before=DAY + 24, days_before=0)
    assert [(each.hour, each.span, each.calls) for each in store.read(0)] == [(DAY, 24, 2)]


def test_old_days_go_when_all_their_hours_are_old(store: UsageStore) -> None:
    store.add([row(DAY), row(DAY + 24), row(DAY + 48)])
    assert store.prune(hours_before=DAY + 50, days_before=DAY + 47) == 3 + 1
    assert [each.hour for each in store.read(0)] == [DAY + 24, DAY + 48]
    assert store.prune(hours_before=DAY + 50, days_before=DAY + 48) == 1


def test_without_days_old_hours_are_gone_when_their_day_is_over(store: UsageStore) -> None:
    store.add([row(DAY), row(DAY + 30)])
    store.prune(hours_before=DAY + 31, days_before=DAY + 31)
    assert [(each.hour, each.span) for each in store.read(0)] == [(DAY + 24, 24)]


def test_threads_that_add_at_once_lose_nothing() -> None:
    """In memory; what processes do to the database is shown by the races."""
    store = MemoryUsageStore()

    def add() -> None:
        for _ in range(50):
            store.add([row(bin=number) for number in range(5)])

    running = [threading.Thread(target=add) for _ in range(4)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert sum(each.calls for each in store.read(0)) == 4 * 50 * 5
