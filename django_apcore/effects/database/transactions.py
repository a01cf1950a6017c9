"""The transactions that a governed run lives in."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

_STRICT_ENOUGH = frozenset({"repeatable read", "serializable"})


@contextmanager
def transaction_on(connection: BaseDatabaseWrapper, lock_timeout_ms: int | None) -> Iterator[list[str]]:
    """A transaction in which a row that was read is still the same when it is written, or a savepoint in the caller's.

    Gives the reasons why the transaction is weaker than that, if the caller opened it. Waits at most `lock_timeout_ms`
    milliseconds for locks.
    """
    outermost = not connection.in_atomic_block
    with _busy_timeout(connection, lock_timeout_ms if outermost else None), transaction.atomic(using=connection.alias):
        gaps = []
        if connection.vendor == "postgresql" and not _isolate(connection, outermost):
            where = "" if connection.alias == DEFAULT_DB_ALIAS else f"Database {connection.alias}: "
            gaps.append(
                f"{where}The surrounding transaction does not isolate the run (it is below REPEATABLE READ), "
                "so rows that others change meanwhile may be missed."
            )
        with _lock_timeout(connection, lock_timeout_ms):
            yield gaps


def _isolate(connection: BaseDatabaseWrapper, outermost: bool) -> bool:
    with connection.cursor() as cursor:
        # SHOW takes no snapshot yet, so the level can still be set
        cursor.execute("SHOW transaction_isolation")
        [level] = cursor.fetchone()
        if level in _STRICT_ENOUGH:
            return True
        if outermost:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return outermost


@contextmanager
def _lock_timeout(connection: BaseDatabaseWrapper, milliseconds: int | None) -> Iterator[None]:
    """Limit waiting on PostgreSQL until the end of this block, since a savepoint that is released keeps the setting."""
    if milliseconds is None or connection.vendor != "postgresql":
        yield
        return
    before = _set_local(connection, "lock_timeout", f"{milliseconds}ms")
    yield
    if not connection.needs_rollback:
        _set_local(connection, "lock_timeout", before)


def clock_of(connection: BaseDatabaseWrapper) -> tuple[datetime, datetime] | None:
    """The database's own time, and when its transaction began; None where it goes by the clock of this machine."""
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp(), now()")
        now, began = cursor.fetchone()
        return now, began


def _set_local(connection: BaseDatabaseWrapper, name: str, value: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s), set_config(%s, %s, true)", [name, name, value])
        return str(cursor.fetchone()[0])


@contextmanager
def _busy_timeout(connection: BaseDatabaseWrapper, milliseconds: int | None) -> Iterator[None]:
    """Limit waiting for the one writer that SQLite allows. Set before the transaction begins: that is when it waits."""
    if milliseconds is None or connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()
    raw: Any = connection.connection
    [before] = raw.execute("PRAGMA busy_timeout").fetchone()
    raw.execute(f"PRAGMA busy_timeout = {milliseconds:d}")
    try:
        yield
    finally:
        if connection.connection is raw:  # the module may have closed it
            raw.execute(f"PRAGMA busy_timeout = {before:d}")
