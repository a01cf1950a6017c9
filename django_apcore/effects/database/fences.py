"""What keeps a module, for the time of one run, from statements and commits whose effect capture cannot follow.

Capture judges every statement that passes through Django. The fences stand in the driver, where a module can go past
Django: they judge what comes that way, and have the database itself refuse a COMMIT.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Final, Protocol

from django.db import Error
from django.db.backends.base.base import BaseDatabaseWrapper

from django_apcore.effects.database.sql import read_statement
from django_apcore.effects.errors import TransactionEndedError

_SAFE_FUNCTIONS = frozenset(
    {
        "random", "setseed", "clock_timestamp", "timeofday", "gen_random_uuid", "uuid_generate_v1",
        "uuid_generate_v4", "currval", "lastval", "pg_sleep", "set_config", "txid_current",
        "pg_current_xact_id", "pg_advisory_xact_lock", "pg_advisory_xact_lock_shared",
        "pg_try_advisory_xact_lock", "pg_try_advisory_xact_lock_shared"
    }
)  # fmt: skip
"""Functions that PostgreSQL calls volatile, and that leave nothing behind after the transaction."""

_NO_FUNCTIONS = frozenset(
    {
        "all", "and", "any", "as", "case", "cast", "coalesce", "count", "else", "exists", "extract",
        "filter", "from", "in", "max", "min", "not", "now", "on", "or", "over", "returning", "select",
        "set", "sum", "then", "using", "values", "when", "where"
    }
)  # fmt: skip
"""Words before a parenthesis that need no look-up: keywords, and the functions of every other query."""


class Fence(Protocol):
    """Guards one connection while `admits` is false."""

    admits: bool
    """Set while a statement runs that capture follows, or that is capture's own."""

    def set_up(self) -> None:
        """Start guarding."""

    def take_down(self) -> None:
        """Stop guarding. Safe in any state of the transaction."""

    def open_for_writing(self) -> AbstractContextManager[None]:
        """Let a statement through that capture follows."""

    def objection(self, sql: str) -> str | None:
        """Why a statement, though it reads well, may have effects that nobody can see."""

    def check_transaction(self) -> None:
        """Raise TransactionEndedError unless the transaction is still the fenced one. Makes its COMMIT possible."""


def fence_of(connection: BaseDatabaseWrapper, refuse: Callable[[str], None], judge: Callable[[Any], object]) -> Fence:
    """The fence for this connection.

    `judge` takes a statement that came past Django and raises if it must not run; `refuse` takes the words for a
    statement that the driver itself turned away.
    """
    match connection.vendor:
        case "sqlite":
            return SqliteFence(connection, refuse)
        case "postgresql":
            return PostgresFence(connection, judge)
        case _:
            return NoFence()


class SqliteFence:
    """SQLite asks an authorizer about every action of a statement while it prepares the statement.

    What writes without a statement (`Connection.blobopen`) asks nobody and is not counted, so the connection is
    read-only but for the statements that capture follows.
    """

    _READING: Final = frozenset(
        {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_SAVEPOINT}
    )
    _WRITING: Final = {
        sqlite3.SQLITE_INSERT: "an insert into",
        sqlite3.SQLITE_UPDATE: "an update of",
        sqlite3.SQLITE_DELETE: "a delete from",
        sqlite3.SQLITE_TRANSACTION: "transaction control:",
    }
    _WRITING_PRAGMAS: Final = frozenset(
        {"application_id", "query_only", "schema_version", "user_version", "writable_schema"}
    )
    _WRITING_FUNCTIONS: Final = frozenset({"edit", "load_extension", "writefile"})

    def __init__(self, connection: BaseDatabaseWrapper, refuse: Callable[[str], None]) -> None:
        self.admits = False
        self._raw: sqlite3.Connection = connection.connection
        self._refuse = refuse

    def set_up(self) -> None:
        """Start guarding. Setting an authorizer makes SQLite prepare remembered statements again."""
        self._raw.set_authorizer(self._authorize)
        self._set_read_only(True)

    def take_down(self) -> None:
        """Stop guarding; a connection that the module closed needs no guard."""
        with suppress(sqlite3.ProgrammingError):
            self._raw.set_authorizer(None)
            self._set_read_only(False)

    @contextmanager
    def open_for_writing(self) -> Iterator[None]:
        """Writable for one statement."""
        before, self.admits = self.admits, True
        try:
            self._set_read_only(False)
            yield
        finally:
            with suppress(sqlite3.ProgrammingError):  # the connection is closed
                self._set_read_only(True)
            self.admits = before

    def objection(self, sql: str) -> str | None:
        """The authorizer sees functions, too."""
        return None

    def check_transaction(self) -> None:
        """The authorizer refuses COMMIT and ROLLBACK, so this fails only where the database gave up by itself."""
        if not self._raw.in_transaction:
            raise TransactionEndedError("SQLite ended the transaction while the module ran; nothing was committed.")

    def _set_read_only(self, value: bool) -> None:
        before, self.admits = self.admits, True
        self._raw.execute(f"PRAGMA query_only = {value:d}").close()
        self.admits = before

    def _authorize(self, action: int, first: str | None, second: str | None, *_where: str | None) -> int:
        if self.admits or self._harmless(action, first, second):
            return sqlite3.SQLITE_OK
        self._refuse(f"{self._WRITING.get(action, 'a change of the schema or the session:')} {first}")
        return sqlite3.SQLITE_DENY

    def _harmless(self, action: int, first: str | None, second: str | None) -> bool:
        if action == sqlite3.SQLITE_PRAGMA:
            return second is None or str(first).lower() not in self._WRITING_PRAGMAS  # without a value, it only asks
        if action == sqlite3.SQLITE_FUNCTION:
            return str(second).lower() not in self._WRITING_FUNCTIONS
        return action in self._READING


class PostgresFence:
    """Guards the driver's cursors, and leaves a fuse in the transaction that blows when anyone commits it.

    The fuse is a holdable cursor whose query fails when it is run. PostgreSQL runs it to its end only at COMMIT, so
    the COMMIT fails, wherever it came from, and the transaction is rolled back.
    """

    _LIGHT_FUSE: Final = """
        DECLARE django_apcore_fuse NO SCROLL CURSOR WITH HOLD FOR
        SELECT CAST('COMMIT inside a governed run ' || g AS integer) FROM generate_series(1, 1) AS g
        """
    _TAKE_FUSE_OUT: Final = "CLOSE django_apcore_fuse"
    _VOLATILE: Final = "SELECT DISTINCT proname FROM pg_catalog.pg_proc WHERE proname = ANY(%s) AND provolatile = 'v'"

    def __init__(self, connection: BaseDatabaseWrapper, judge: Callable[[Any], object]) -> None:
        self.admits = False
        self._connection = connection
        self._raw = connection.connection
        self._factory = self._raw.cursor_factory
        self._judge = judge
        self._volatile: dict[str, bool] = dict.fromkeys(_NO_FUNCTIONS | _SAFE_FUNCTIONS, False)

    def set_up(self) -> None:
        """Light the fuse and guard the cursors."""
        self._query(self._LIGHT_FUSE)
        self._raw.cursor_factory = self._guarded(self._factory)

    def take_down(self) -> None:
        """Stop guarding. A rollback removes the fuse."""
        self._raw.cursor_factory = self._factory

    def open_for_writing(self) -> AbstractContextManager[None]:
        """Let the driver's cursor pass."""
        return self._admitting()

    def objection(self, sql: str) -> str | None:
        """Functions that PostgreSQL calls volatile may write, lock, notify or reach out of the database."""
        functions = read_statement(sql).functions
        unknown = functions - self._volatile.keys()
        if unknown:
            volatile = {name for (name,) in self._query(self._VOLATILE, [list(unknown)])}
            self._volatile.update({name: name in volatile for name in unknown})
        effective = sorted(name for name in functions if self._volatile[name])
        if not effective:
            return None
        return f"{effective[0]}() is VOLATILE, so it may have effects; declare it STABLE if it only reads"

    def check_transaction(self) -> None:
        """Take the fuse out. It is not there any more if the module ended the transaction."""
        try:
            self._query(self._TAKE_FUSE_OUT)
        except Error as error:
            raise TransactionEndedError(
                "The module ended or broke the transaction that it ran in; nothing was committed."
            ) from error

    def _guarded(self, base: type) -> type:
        def method(name: str) -> Callable[..., Any]:
            original = getattr(base, name)

            def guarded(cursor: Any, statement: Any, *args: Any, **kwargs: Any) -> Any:
                if not self.admits:
                    self._judge(statement)
                return original(cursor, statement, *args, **kwargs)

            return guarded

        names = ("execute", "executemany", "stream", "copy", "copy_expert")
        return type(base.__name__, (base,), {name: method(name) for name in names if hasattr(base, name)})

    def _query(self, sql: str, params: list[Any] | None = None) -> list[Any]:
        with self._admitting(), self._connection.wrap_database_errors, self._raw.cursor() as cursor:
            cursor.execute(sql, params)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def _admitting(self) -> Iterator[None]:
        before, self.admits = self.admits, True
        try:
            yield
        finally:
            self.admits = before


class NoFence:
    """A driver that offers nothing to hold on to; the text of statements has to do."""

    def __init__(self) -> None:
        self.admits = False

    def set_up(self) -> None:
        """Nothing to guard with."""

    def take_down(self) -> None:
        """Nothing to take down."""

    def open_for_writing(self) -> AbstractContextManager[None]:
        """Nothing to open."""
        return nullcontext()

    def objection(self, sql: str) -> str | None:
        """Nothing is known about functions."""
        return None

    def check_transaction(self) -> None:
        """Nothing to check."""
