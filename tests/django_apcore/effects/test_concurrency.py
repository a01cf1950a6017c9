"""Others work at the same time: what was approved is what commits, or nothing does."""

import threading
from collections import Counter
from collections.abc import Callable
from contextvars import Context
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError, connection, connections, transaction
from django.db.models import F

from apcore.approval import EffectDriftError
from django_apcore.effects.database import inserts
from django_apcore.effects.database.ledger import Ledger
from tests.django_apcore.effects.runs import execute_approved, only_change, preview
from tests.matrix.models import Customer, Order, OrderLine, Setting

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True, databases="__all__")]

ONE = ["default"]


class Other(threading.Thread):
    """Somebody else, with connections of their own. `outcome` is what they got, an error included."""

    def __init__(self, act: Callable[[], Any]) -> None:
        super().__init__()
        self._act = act
        self.outcome: Any = None
        Context().run(self.start)  # or it would belong to the run that it disturbs

    def run(self) -> None:
        try:
            self.outcome = self._act()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test looks at it
            self.outcome = error
        finally:
            connections.close_all()

    def done(self) -> Any:
        self.join(20)
        assert not self.is_alive()
        return self.outcome


def raise_total() -> None:
    Order.objects.filter(pk=1).update(total=F("total") + 1)


def in_between(act: Callable[[], Any], patch: pytest.MonkeyPatch, once_for: str) -> None:
    """Have somebody else act right after the rows of a table were selected, and before they are written."""
    original, waiting = Ledger.fetch, [act]

    def fetch(self: Ledger, sql: str, params: Any = ()) -> list[Any]:
        rows = original(self, sql, params)
        if waiting and once_for in sql:
            error = Other(waiting.pop()).done()
            assert not isinstance(error, Exception), error
        return rows

    patch.setattr(Ledger, "fetch", fetch)


# -- drift ------------------------------------------------------------------------------------------------------------


def test_a_row_that_changed_since_the_approval() -> None:
    record = preview(raise_total)
    Other(lambda: Order.objects.filter(pk=1).update(total=500)).done()
    with pytest.raises(EffectDriftError) as drift:
        execute_approved(raise_total, record.digest)
    assert only_change(drift.value.effect).after == {"total": "501.00"}
    assert Order.objects.get(pk=1).total == 500


def test_what_others_change_elsewhere_does_not_matter() -> None:
    record = preview(raise_total)
    Other(lambda: Order.objects.exclude(pk=1).update(total=500)).done()
    execute_approved(raise_total, record.digest)
    assert Order.objects.get(pk=1).total == 2


@pytest.mark.parametrize("_round", range(5))
def test_one_approval_used_twice_at_the_same_time(_round: int) -> None:
    digest = preview(raise_total, aliases=ONE).digest
    barrier = threading.Barrier(2)

    def use() -> str:
        barrier.wait()
        try:
            execute_approved(raise_total, digest, aliases=ONE)
        except EffectDriftError:
            return "drift"
        except DatabaseError as error:
            return str(getattr(error.__cause__, "sqlstate", error))
        return "committed"

    outcomes = Counter(other.done() for other in [Other(use), Other(use)])
    assert outcomes["committed"] == 1
    assert set(outcomes) <= {"committed", "drift", "40001"}
    assert Order.objects.get(pk=1).total == 2


# -- between reading and writing --------------------------------------------------------------------------------------


def test_a_row_that_slips_in_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    in_between(lambda: Order.objects.create(customer_id=1, status="open", total=70), monkeypatch, '"matrix_order"')

    def write() -> None:
        Order.objects.filter(status="open").update(total=F("total") + 1)

    record = preview(write)
    assert record.complete
    assert record.counts == {"matrix.Order:update": 3}


def test_members_of_a_join_that_are_swapped(monkeypatch: pytest.MonkeyPatch) -> None:
    def swap() -> None:
        with transaction.atomic():
            Customer.objects.filter(pk=1).update(name="moved")
            Customer.objects.filter(pk=2).update(name="c1")

    in_between(swap, monkeypatch, '"matrix_order"')
    written: set[int] = set()

    def write() -> None:
        Order.objects.filter(customer__name="c1").update(status="joined")
        written.update(Order.objects.filter(status="joined").values_list("pk", flat=True))

    record = preview(write)
    assert record.complete
    assert {change.extras["x-pk"] for change in record.changes} == written == {1, 2}


def test_the_same_swap_inside_a_weaker_transaction_is_admitted(monkeypatch: pytest.MonkeyPatch) -> None:
    with transaction.atomic():
        record = preview(lambda: Order.objects.filter(customer__name="c1").update(status="joined"))
    assert not record.complete


def test_a_row_that_changed_after_the_snapshot_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    def write() -> None:
        assert Order.objects.get(pk=1).total == 1
        Other(lambda: Order.objects.filter(pk=1).update(total=5)).done()
        raise_total()

    with pytest.raises(OperationalError) as conflict:
        preview(write)
    assert getattr(conflict.value.__cause__, "sqlstate", None) == "40001"


def test_a_conflicting_row_that_slips_in_before_an_upsert(monkeypatch: pytest.MonkeyPatch) -> None:
    original, waiting = inserts._note_conflicting, [True]

    def note(*args: Any) -> Any:
        found = original(*args)
        if waiting:
            waiting.pop()
            Other(lambda: Setting.objects.create(key="race", value="theirs")).done()
        return found

    monkeypatch.setattr(inserts, "_note_conflicting", note)

    def write() -> None:
        Setting.objects.bulk_create(
            [Setting(key="race", value="mine")],
            update_conflicts=True,
            unique_fields=["key"],
            update_fields=["value"],
        )

    with pytest.raises(OperationalError) as conflict:
        preview(write)
    assert getattr(conflict.value.__cause__, "sqlstate", None) == "40001"


# -- locks ------------------------------------------------------------------------------------------------------------


def test_a_measurement_gives_up_on_rows_that_others_keep_locked() -> None:
    locked, end = threading.Event(), threading.Event()

    def keep() -> None:
        with transaction.atomic():
            Order.objects.select_for_update().get(pk=1)
            locked.set()
            end.wait(20)

    other = Other(keep)
    try:
        assert locked.wait(20)
        with pytest.raises(OperationalError) as timeout:
            preview(raise_total, lock_timeout_ms=100)
    finally:
        end.set()
        other.done()
    assert getattr(timeout.value.__cause__, "sqlstate", None) == "55P03"


@pytest.mark.parametrize(
    "act",
    [
        lambda: Order.objects.filter(pk=5).update(total=1),
        lambda: Setting.objects.filter(pk="k1").update(value="o"),
        lambda: Order.objects.create(customer_id=2),
        lambda: OrderLine.objects.create(order_id=1, sku="z"),
        lambda: Order.objects.get(pk=1).status,
        lambda: preview(lambda: Order.objects.filter(pk=5).update(total=2), aliases=ONE),
    ],
    ids=["another row", "another table", "a new row", "a child of the row", "reading the row", "another preview"],
)
def test_a_measurement_does_not_stop_other_work(act: Callable[[], Any]) -> None:
    def write() -> None:
        raise_total()
        outcome = Other(act).done()
        assert not isinstance(outcome, Exception), outcome

    assert preview(write, aliases=ONE).complete


def test_two_measurements_in_each_others_way() -> None:
    barrier = threading.Barrier(2)

    def crossing(first: int, second: int) -> Callable[[], None]:
        def write() -> None:
            Order.objects.filter(pk=first).update(status="d")
            barrier.wait(20)
            Order.objects.filter(pk=second).update(status="d")

        return write

    others = [Other(lambda: preview(crossing(1, 2), aliases=ONE)), Other(lambda: preview(crossing(2, 1), aliases=ONE))]
    outcomes = [other.done() for other in others]
    failed = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert [getattr(error.__cause__, "sqlstate", None) for error in failed] == ["40P01"]
    [record] = [outcome for outcome in outcomes if outcome not in failed]
    assert record.complete
    assert record.counts == {"matrix.Order:update": 2}


def test_nothing_of_this_left_a_connection_open() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%%'"
        )
        assert cursor.fetchone() == (0,)
