"""What a module finds when it goes past Django to the driver."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from django_apcore.effects import TransactionEndedError, governed
from tests.django_apcore.effects.runs import execute, preview
from tests.matrix.models import Blob, Setting, Tag
from tests.matrix.snapshot import snapshot

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

UPDATE = "UPDATE matrix_setting SET value = 'driver'"


def driver() -> Any:
    connection.ensure_connection()
    return connection.connection


WAYS_PAST: dict[str, Callable[[], Any]] = {
    "cursor": lambda: driver().cursor().execute(UPDATE),
    "connection": lambda: driver().execute(UPDATE),
    "many": lambda: driver().cursor().executemany("UPDATE matrix_setting SET value = 'x' WHERE key = 'k1'", [()]),
    "schema": lambda: driver().execute("DROP TABLE matrix_blob"),
    "commit": lambda: driver().execute("COMMIT"),
}


@pytest.mark.parametrize("past", WAYS_PAST.values(), ids=WAYS_PAST)
def test_it_is_turned_away_before_anything_happens(past: Callable[[], Any]) -> None:
    def write() -> None:
        Tag.objects.create(name="made")
        with pytest.raises((connection.Database.DatabaseError, Exception), match=r"authorized|refused"):
            past()

    record = preview(write)
    assert not record.complete
    assert record.counts == {"matrix.Tag:insert": 1}


@pytest.mark.sqlite
def test_what_writes_without_a_statement_finds_the_database_read_only() -> None:
    """The database neither asks anybody about it nor counts it."""
    blob = Blob.objects.create(data=b"abc")

    def write() -> None:
        Tag.objects.create(name="made")
        with pytest.raises(connection.Database.OperationalError, match="readonly"):
            driver().blobopen("matrix_blob", "data", blob.pk)
        driver().blobopen("matrix_blob", "data", blob.pk, readonly=True).close()
        with pytest.raises(connection.Database.DatabaseError, match="authorized"):
            driver().execute("PRAGMA query_only = OFF")
        with suppress(IntegrityError), transaction.atomic():
            Tag.objects.create(name="made")
        with pytest.raises(connection.Database.OperationalError, match="readonly"):
            driver().blobopen("matrix_blob", "data", blob.pk)

    assert execute(write).counts == {"matrix.Tag:insert": 1}
    with driver().blobopen("matrix_blob", "data", blob.pk) as free:
        free.write(b"x")


def test_reading_past_django_is_nothing_special() -> None:
    assert preview(lambda: driver().execute("SELECT count(*) FROM matrix_setting").fetchone()).complete


def test_the_driver_is_free_again_afterwards() -> None:
    preview(lambda: None)
    driver().execute(UPDATE)
    assert set(Setting.objects.values_list("value", flat=True)) == {"driver"}


def test_a_repeated_statement_of_the_orm_is_turned_away_or_counted() -> None:
    """SQLite asks its authorizer only when it prepares a statement, and the ORM has prepared this one."""
    cursor = driver().cursor()  # on PostgreSQL, made before the guard was there

    def write() -> None:
        Setting.objects.filter(key="k1").update(value="orm")
        mark = "?" if connection.vendor == "sqlite" else "%s"
        with suppress(connection.Database.DatabaseError):
            cursor.execute(
                f'UPDATE "matrix_setting" SET "value" = {mark} WHERE "matrix_setting"."key" = {mark}', ["driver", "k2"]
            )

    record = preview(write)
    assert not record.complete


# -- PostgreSQL: the fuse ---------------------------------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.parametrize("end", ["commit", "rollback"])
@pytest.mark.parametrize("commit", [True, False])
def test_the_fuse_blows_when_the_transaction_is_ended(end: str, commit: bool) -> None:
    start = snapshot()
    with pytest.raises(TransactionEndedError), governed(commit=commit):  # noqa: PT012 - the block is the test
        Tag.objects.create(name="made")
        with suppress(connection.Database.Error):
            getattr(driver(), end)()
    assert snapshot() == start


@pytest.mark.postgresql
def test_the_fuse_holds_against_a_cursor_that_nobody_guards() -> None:
    cursor = driver().cursor()
    start = snapshot()

    def write() -> None:
        Tag.objects.create(name="made")
        with pytest.raises(connection.Database.Error, match="COMMIT inside a governed run"):
            cursor.execute("COMMIT")

    with pytest.raises(TransactionEndedError):
        execute(write)
    assert snapshot() == start


@pytest.mark.postgresql
def test_the_fuse_is_out_before_the_commit() -> None:
    execute(lambda: Tag.objects.create(name="made"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_cursors WHERE name = 'django_apcore_fuse'")
        assert cursor.fetchone() == (0,)


# -- PostgreSQL: counters ---------------------------------------------------------------------------------------------


@pytest.mark.postgresql
def test_a_failed_statement_does_not_cover_for_a_write_before_its_savepoint() -> None:
    """PostgreSQL counts rows of failed statements, so some excess is forgiven: that of the savepoint, and no more."""
    cursor = driver().cursor()

    def write(past: bool) -> None:
        if past:
            cursor.execute("UPDATE matrix_tag SET name = 'past' WHERE id = 4")
        with suppress(IntegrityError), transaction.atomic():
            Tag.objects.bulk_create([Tag(name="a"), Tag(name="b"), Tag(name="t1")])

    assert preview(lambda: write(past=False)).complete
    record = preview(lambda: write(past=True))
    assert record.gaps == ("Table matrix_tag: the database counted +1 updates against what could be followed.",)
