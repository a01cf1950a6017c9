"""The course of a governed block: its transactions, what it leaves behind, and what it refuses."""

import asyncio
import threading
from contextlib import suppress
from contextvars import Context
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import IntegrityError, OperationalError, connection, connections, transaction
from django.db.models import F
from django.test import override_settings

from apcore.effects import EffectRecord
from django_apcore.effects import TransactionEndedError, UngovernedWriteError, governed, is_governed
from tests.django_apcore.effects.runs import execute, only_change, preview
from tests.matrix.models import Blob, Customer, Note, Order, OrderLine, Remote, Setting, Stamp, Tag
from tests.matrix.snapshot import snapshot

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

on_postgresql = pytest.mark.postgresql


def make_tag() -> None:
    Tag.objects.create(name="made")


# -- the record -------------------------------------------------------------------------------------------------------


def test_an_insert_shows_all_fields_and_no_key_that_nobody_knows() -> None:
    change = only_change(preview(make_tag))
    assert (change.action, change.target) == ("insert", "new:matrix.Tag#1")
    assert change.after == {"id": {"$known_after_apply": "id"}, "name": "made"}
    assert change.summary == "Insert made"
    assert change.extras == {"x-kind": "matrix.Tag", "x-label": "made"}
    assert "before" not in change.to_dict()


def test_an_update_shows_the_changed_fields_only() -> None:
    change = only_change(preview(lambda: Order.objects.filter(pk=1).update(total=F("total") + 1, status="void")))
    assert (change.action, change.target) == ("update", "matrix.Order:1")
    assert change.before == {"status": "open", "total": "1.00"}
    assert change.after == {"status": "void", "total": "2.00"}
    assert change.extras["x-pk"] == 1
    assert change.summary == "Update order 1: status open → void, total 1.00 → 2.00"


def test_a_delete_shows_what_is_lost() -> None:
    change = only_change(preview(lambda: Setting.objects.filter(pk="k1").delete()))
    assert (change.action, change.target) == ("delete", "matrix.Setting:k1")
    assert change.before == {"key": "k1", "value": "1"}
    assert "after" not in change.to_dict()


def test_another_database_is_named() -> None:
    change = only_change(preview(lambda: Remote.objects.using("other").filter(pk=1).update(label="x")))
    assert change.extras["x-alias"] == "other"


def test_a_label_costs_no_query() -> None:
    """Order.__str__ asks for the customer; the label does without."""
    record = preview(lambda: Order.objects.update(status="void"))
    assert {change.extras["x-label"] for change in record.changes} == {f"order {number}" for number in range(1, 7)}


@pytest.mark.req("DR-08")
def test_cascades_are_listed_and_counted() -> None:
    record = preview(lambda: Customer.objects.filter(pk=1).delete())
    assert record.counts == {
        "matrix.Customer:delete": 1,
        "matrix.Customer_friends:delete": 2,
        "matrix.Customer_tags:delete": 2,
        "matrix.Membership:delete": 1,
        "matrix.Note:update": 2,
        "matrix.Order:delete": 2,
        "matrix.OrderLine:delete": 4,
    }
    assert record.destructive


def test_counts_and_digest_cover_what_is_not_listed() -> None:
    def write() -> None:
        Tag.objects.bulk_create([Tag(name=f"n{number}") for number in range(20)])
        OrderLine.objects.all().delete()

    whole, part = preview(write), preview(write, listed=5)
    assert len(part.changes) == 5
    assert part.changes == whole.changes[:5]
    assert (part.total, part.digest, part.counts) == (whole.total, whole.digest, whole.counts)
    assert part.counts == {"matrix.OrderLine:delete": 12, "matrix.Tag:insert": 20}


def test_changes_are_in_canonical_order() -> None:
    def write() -> None:
        Tag.objects.create(name="b")
        Setting.objects.filter(pk__in=["k3", "k1"]).update(value="x")
        Tag.objects.create(name="a")
        Tag.objects.filter(pk=2).update(name="c")

    targets = [change.target for change in preview(write).changes]
    assert targets[:2] == ["matrix.Setting:k1", "matrix.Setting:k3"]
    assert targets[-3:] == ["matrix.Tag:2", "new:matrix.Tag#1", "new:matrix.Tag#2"]


def test_what_is_not_watched_is_said() -> None:
    assert preview(make_tag).unwatched == ("already_open", "native_code", "threads")


def test_sensitive_fields_are_hidden_but_not_unchecked() -> None:
    def write(value: str) -> EffectRecord:
        with override_settings(APCORE={"SENSITIVE_FIELDS": ["matrix.Setting.value"]}):
            return preview(lambda: Setting.objects.filter(pk="k1").update(value=value))

    record = write("secret")
    change = only_change(record)
    assert list(change.after["value"]) == ["$redacted"]
    assert "secret" not in str(record.to_dict())
    assert change.summary == "Update setting k1: value ***REDACTED*** → ***REDACTED***"
    assert write("secret").digest == record.digest
    assert write("Secret").digest != record.digest


def test_volatile_fields_are_shown_as_not_checked() -> None:
    def write(value: str) -> EffectRecord:
        change = {"status": "void", "total": value}
        return preview(lambda: Order.objects.filter(pk=1).update(**change), volatile=[("matrix.Order", "total")])

    assert write("5").digest == write("6").digest
    assert only_change(write("5")).after == {"status": "void", "total": {"$unchecked": "total"}}


def test_a_row_with_nothing_but_volatile_changes_is_still_listed() -> None:
    def write() -> None:
        Order.objects.filter(pk=1).update(total=99)

    with override_settings(APCORE={"VOLATILE_FIELDS": ["matrix.Order.total"]}):
        assert only_change(preview(write)).target == "matrix.Order:1"


def test_the_password_of_a_user_has_another_hash_each_time_and_the_effect_is_the_same() -> None:
    def write(name: str = "ada") -> None:
        User.objects.create_user(name, password="correct horse")

    first, second = preview(write), preview(write)
    assert first.digest == second.digest != preview(lambda: write("bea")).digest
    assert only_change(first).after["password"] == {"$unchecked": "password"}
    assert first.complete


def test_a_new_row_is_told_by_its_content() -> None:
    def write() -> None:
        order = Order.objects.create(customer_id=1, total=5)
        Note.objects.filter(pk=1).update(order=order)

    note, order = preview(write).changes
    assert order.target == "new:matrix.Order#1"
    assert note.after == {"order": {"$ref": "new:matrix.Order#1"}}
    assert order.after["token"] == {"$known_after_apply": "uuid"}
    assert order.after["placed_at"] == {"$known_after_apply": "now"}
    assert order.after["priority"] == 5
    assert "double" not in order.after, "a generated column follows from the others"


# -- the block and its transactions -----------------------------------------------------------------------------------


def test_there_is_no_record_before_the_end() -> None:
    with governed(commit=False) as run, pytest.raises(RuntimeError):
        _ = run.record
    assert run.record.total == 0


def test_an_error_of_the_module_passes_and_rolls_back() -> None:
    def fail() -> None:
        make_tag()
        _ = 1 / 0

    start = snapshot()
    with pytest.raises(ZeroDivisionError):
        execute(fail)
    assert snapshot() == start


def test_blocks_do_not_nest() -> None:
    with governed(commit=False):
        assert is_governed()
        with pytest.raises(RuntimeError), governed(commit=False):
            pass
    assert not is_governed()


def test_first_and_last_take_part_in_the_transaction_but_not_in_the_record() -> None:
    seen = []

    def last(record: EffectRecord) -> None:
        seen.append(record)
        assert not is_governed()
        Setting.objects.create(key="last", value="1")

    def first() -> None:
        Setting.objects.create(key="first", value="1")

    with governed(commit=True, first=first, last=last) as run:
        make_tag()
    assert seen == [run.record]
    assert run.record.counts == {"matrix.Tag:insert": 1}
    assert Setting.objects.filter(key__in=["first", "last"]).count() == 2

    with governed(commit=False, first=lambda: Setting.objects.all().delete(), last=lambda record: None):
        pass
    assert Setting.objects.exists()


def test_an_error_of_last_rolls_everything_back() -> None:
    def last(record: EffectRecord) -> None:
        raise PermissionError

    with pytest.raises(PermissionError), governed(commit=True, last=last) as run:
        make_tag()
    assert not Tag.objects.filter(name="made").exists()
    assert run.record.total == 1


def test_inside_a_transaction_of_the_caller_a_savepoint_is_used() -> None:
    with transaction.atomic():
        Setting.objects.create(key="outer", value="1")
        transaction.on_commit(lambda: None)
        callbacks = list(connection.run_on_commit)
        record = preview(lambda: (make_tag(), transaction.on_commit(lambda: None)))
        assert record.counts == {"matrix.Tag:insert": 1, "on_commit:run": 1}
        assert not Tag.objects.filter(name="made").exists()
        assert connection.run_on_commit == callbacks
        execute(make_tag)
        assert Tag.objects.filter(name="made").exists()
        transaction.set_rollback(True)
    assert not Tag.objects.filter(name="made").exists()
    assert not Setting.objects.filter(key="outer").exists()


def test_the_caller_sees_its_own_uncommitted_rows() -> None:
    with transaction.atomic():
        Setting.objects.create(key="outer", value="1")
        change = only_change(preview(lambda: Setting.objects.filter(key="outer").delete()))
        assert change.target == "matrix.Setting:outer"
        transaction.set_rollback(True)


@on_postgresql
def test_below_repeatable_read_the_record_says_so() -> None:
    with transaction.atomic():
        record = preview(make_tag)
    assert not record.complete
    assert "REPEATABLE READ" in record.gaps[0]


@on_postgresql
@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_the_callers_own_isolation_is_enough(level: str) -> None:
    with transaction.atomic(), transaction.atomic(using="other"):
        for each in connections.all():
            with each.cursor() as cursor:
                cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        assert preview(make_tag).complete


@on_postgresql
def test_the_block_runs_at_repeatable_read() -> None:
    levels = []
    with governed(commit=False):
        for each in connections.all():
            with each.cursor() as cursor:
                cursor.execute("SHOW transaction_isolation")
                levels += cursor.fetchone()
    assert levels == ["repeatable read"] * 2


@on_postgresql
def test_the_lock_timeout_of_the_caller_comes_back() -> None:
    def timeout() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            return str(cursor.fetchone()[0])

    with transaction.atomic():
        with governed(commit=True, lock_timeout_ms=150):
            assert timeout() == "150ms"
        assert timeout() == "0"


# -- trying to get away -----------------------------------------------------------------------------------------------


def test_a_refused_statement_does_not_run_and_does_not_show_its_literals() -> None:
    def write() -> None:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE matrix_setting SET value = 'top secret' WHERE key = 'k1'")

    with pytest.raises(UngovernedWriteError) as refusal, governed(commit=True):
        write()
    assert refusal.value.to_dict()["code"] == "UNGOVERNED_WRITE"
    assert "top secret" not in str(refusal.value.to_dict())
    assert Setting.objects.get(key="k1").value == "1"


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_a_block_whose_transaction_was_ended_is_not_committed(end: str) -> None:
    start = snapshot()
    try:
        with governed(commit=True) as run:
            make_tag()
            with suppress(connection.Database.Error):
                getattr(connection.connection, end)()
            Setting.objects.all().delete()
    except (TransactionEndedError, OperationalError):
        assert snapshot() == start
    else:  # SQLite refuses to end it, so the transaction is whole
        assert not run.record.complete
        assert run.record.counts == {"matrix.Tag:insert": 1, "matrix.Setting:delete": 4}


def test_a_swallowed_error_that_broke_the_transaction_is_no_success() -> None:
    def carry_on() -> None:
        make_tag()
        with suppress(IntegrityError):
            Tag.objects.create(name="t1")

    start = snapshot()
    with pytest.raises(TransactionEndedError):
        execute(carry_on)
    assert snapshot() == start


@on_postgresql
def test_a_closed_connection_is_no_success() -> None:
    def write() -> None:
        make_tag()
        connection.close()

    start = snapshot()
    with pytest.raises(TransactionEndedError):
        execute(write)
    assert snapshot() == start


def test_a_deferred_constraint_speaks_in_the_preview() -> None:
    with pytest.raises(IntegrityError), governed(commit=False):
        OrderLine.objects.create(order_id=12345, sku="x")


def test_a_deferred_constraint_is_checked_for_deleted_parents() -> None:
    with pytest.raises(IntegrityError), governed(commit=False):
        Order.objects.filter(pk=1)._raw_delete("default")


def test_checking_constraints_is_allowed() -> None:
    with governed(commit=False) as run:
        make_tag()
        connection.check_constraints(["matrix_tag"])
    assert run.record.complete


def test_reading_sql_is_allowed() -> None:
    def write() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*), max(upper(name)) FROM matrix_tag WHERE name <> %s", ["x; UPDATE"])
            cursor.execute("SELECT 'delete; -- from', \"name\" FROM matrix_tag /* update */")
        connection.connection.cursor().execute("SELECT 1")
        list(Tag.objects.raw("WITH x AS (SELECT * FROM matrix_tag) SELECT * FROM x"))
        list(Tag.objects.select_for_update().iterator())
        Tag.objects.explain()

    assert preview(write).complete


@pytest.mark.parametrize(
    "write",
    [
        lambda: Remote.objects.using("other").create(label="x"),
        lambda: transaction.on_commit(lambda: None, using="other"),
    ],
)
def test_databases_that_take_no_part_may_only_be_read(write: Any) -> None:
    def carry_on() -> None:
        assert Remote.objects.using("other").count() == 2
        with suppress(UngovernedWriteError):
            write()

    record = preview(carry_on, aliases=["default"])
    assert not record.complete
    assert "Database other takes no part in this run" in record.gaps[0]
    assert Remote.objects.using("other").count() == 2


# -- nobody else notices ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fails", [False, True])
def test_everything_is_as_before_afterwards(fails: bool) -> None:
    def state() -> list[Any]:
        found = []
        for each in connections.all():
            each.ensure_connection()
            found += [vars(each.ops).get("compiler"), list(each.execute_wrappers), vars(each).get("on_commit")]
            found.append(getattr(each.connection, "cursor_factory", None))
        return found

    before = state()
    with suppress(ZeroDivisionError), governed(commit=True, aliases=["default"]):
        make_tag()
        _ = 1 / (not fails)
    assert state() == before
    with connection.cursor() as cursor:
        cursor.execute("UPDATE matrix_setting SET value = 'raw again'")
        connection.connection.cursor().execute("UPDATE matrix_setting SET value = 'driver again'")


@on_postgresql
def test_other_threads_go_on_as_if_nothing_were() -> None:
    def other() -> None:
        try:
            assert not is_governed()
            with connection.cursor() as cursor:
                cursor.execute("UPDATE matrix_setting SET value = 'other thread' WHERE key = 'k2'")
        finally:
            connection.close()

    with governed(commit=False) as run:
        make_tag()
        thread = threading.Thread(target=other)
        Context().run(thread.start)  # or it would belong to the run
        thread.join()
    assert run.record.complete
    assert Setting.objects.get(key="k2").value == "other thread"


def test_asynchronous_code_is_followed() -> None:
    async def write() -> None:
        await Tag.objects.acreate(name="made")
        await asyncio.gather(*(Setting.objects.filter(pk=key).aupdate(value="x") for key in ("k1", "k2")))
        await sync_to_async(send_mail)("s", "b", None, ["to@example.com"])

    record = preview(async_to_sync(write))
    assert record.complete
    assert record.counts == {"matrix.Tag:insert": 1, "matrix.Setting:update": 2, "mail:send": 1}


def test_a_naive_module_can_use_time_zones_of_its_own() -> None:
    """A time that is not of this run is shown as it is, in UTC."""
    import datetime as dt

    at = dt.datetime(2031, 5, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    change = only_change(preview(lambda: Blob.objects.filter(pk=1).update(at=at)))
    assert change.after == {"at": "2031-05-01T10:00:00+00:00"}


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_the_date_of_a_run_is_the_local_one(zone: str) -> None:
    """In one of the two zones it is another day than in UTC, whenever this runs."""
    with override_settings(TIME_ZONE=zone):
        change = only_change(preview(Stamp.objects.create))
    assert change.after["day"] == change.after["hour"] == {"$known_after_apply": "now"}


def test_a_key_that_is_hidden_is_still_a_known_key() -> None:
    with override_settings(APCORE={"SENSITIVE_FIELDS": ["matrix.Setting.key"]}):
        record = preview(lambda: (Setting.objects.create(key="secret", value="v"), Tag.objects.create(name="t")))
    setting, _tag = record.changes
    assert setting.target.startswith("matrix.Setting:")
    assert "secret" not in str(record.to_dict())


def test_json_objects_of_users_cannot_pass_for_markers() -> None:
    change = only_change(preview(lambda: Customer.objects.filter(pk=1).update(prefs={"$ref": "new:x#1"})))
    assert change.after == {"prefs": {"$object": {"$ref": "new:x#1"}}}
