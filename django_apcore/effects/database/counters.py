"""The databases' own counts of written rows, which decide whether capture saw everything."""

from collections import Counter
from typing import Any, Literal, Protocol

from django.db.backends.base.base import BaseDatabaseWrapper

WriteAction = Literal["insert", "update", "delete"]
Written = Counter[tuple[str, WriteAction]]
"""How many rows capture saw written, by table and action."""


class Counters(Protocol):
    """Compares what one connection wrote, by the database's count, with what capture saw."""

    def start(self) -> None:
        """Remember the counts as they are now."""

    def savepoint(self, name: str, written: Written) -> None:
        """A savepoint is set."""

    def rolled_back_to(self, name: str, written: Written) -> None:
        """The transaction returned to a savepoint."""

    def gaps(self, written: Written) -> list[str]:
        """One sentence for each disagreement."""


def counters_of(connection: BaseDatabaseWrapper) -> Counters:
    """The counters that the database of this connection keeps."""
    match connection.vendor:
        case "sqlite":
            return SqliteCounters(connection)
        case "postgresql":
            return PostgresCounters(connection)
        case _:
            return NoCounters(connection)


class SqliteCounters:
    """SQLite counts all rows that a connection wrote, those of triggers and foreign key actions among them."""

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self._raw = connection.connection
        self._rows = self._schema = 0

    def start(self) -> None:
        """Remember the counts as they are now."""
        self._rows, self._schema = self._read()

    def savepoint(self, name: str, written: Written) -> None:
        """Nothing to do: rows of failed statements are not counted, and rows that are rolled back stay counted."""

    def rolled_back_to(self, name: str, written: Written) -> None:
        """Nothing to do either."""

    def gaps(self, written: Written) -> list[str]:
        """One sentence for each disagreement."""
        rows, schema = self._read()
        found = []
        if rows - self._rows != written.total():
            found.append(
                f"The database counted {_rows(rows - self._rows)}, of which {written.total()} could be followed."
            )
        if schema != self._schema:
            found.append("The database schema was changed.")
        return found

    def _read(self) -> tuple[int, int]:
        [schema] = self._raw.execute("PRAGMA schema_version").fetchone()
        return self._raw.total_changes, schema


class PostgresCounters:
    """PostgreSQL counts, per table and transaction, the rows inserted, updated and deleted, its catalogue included.

    It also counts the rows of statements that failed and of savepoints that were rolled back. Whatever was counted
    between a savepoint and the return to it is gone from the database, so it is forgiven.
    """

    _COUNTS = """
        SELECT * FROM (
            SELECT COALESCE(pg_partition_root(oid)::oid, oid) AS relation,
                   SUM(pg_stat_get_xact_tuples_inserted(oid))::bigint AS inserted,
                   SUM(pg_stat_get_xact_tuples_updated(oid))::bigint AS updated,
                   SUM(pg_stat_get_xact_tuples_deleted(oid))::bigint AS deleted
            FROM pg_catalog.pg_class WHERE relkind IN ('r', 'm') GROUP BY 1
        ) counted WHERE inserted + updated + deleted > 0
        """

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self._connection = connection
        self._start: Counter[tuple[int, str]] = Counter()
        self._forgiven: Counter[tuple[int, str]] = Counter()
        self._savepoints: list[tuple[str, Counter[tuple[int, str]]]] = []
        self._oids: dict[str, int] = {}
        self._counting = True

    def start(self) -> None:
        """Remember the counts as they are now."""
        [[switch]] = self._query("SELECT current_setting('track_counts')")
        self._counting = switch == "on"
        self._start = self._read()

    def savepoint(self, name: str, written: Written) -> None:
        """Note what is unexplained so far: only what comes after it can be forgiven."""
        self._savepoints.append((name, self._unexplained(written)))

    def rolled_back_to(self, name: str, written: Written) -> None:
        """Forgive what was counted since the savepoint."""
        while self._savepoints and self._savepoints[-1][0] != name:
            self._savepoints.pop()
        if self._savepoints:
            now, then = self._unexplained(written), self._savepoints[-1][1]
            for key in now.keys() | then.keys():
                self._forgiven[key] += now[key] - then[key]

    def gaps(self, written: Written) -> list[str]:
        """One sentence for each disagreement."""
        if not self._counting:
            return ["The database does not count written rows (track_counts is off), so completeness is not verified."]
        unexplained = {key: number for key, number in self._unexplained(written).items() if number}
        names = self._names({relation for relation, _action in unexplained})
        return sorted(
            f"Table {names[relation]}: the database counted {number:+d} {action}s against what could be followed."
            for (relation, action), number in unexplained.items()
        )

    def _unexplained(self, written: Written) -> Counter[tuple[int, str]]:
        counted = self._read()
        counted.subtract(self._start)
        counted.subtract(self._forgiven)
        for (table, action), number in written.items():
            counted[self._oid(table), action] -= number
        return counted

    def _read(self) -> Counter[tuple[int, str]]:
        counts: Counter[tuple[int, str]] = Counter()
        for relation, inserted, updated, deleted in self._query(self._COUNTS):
            counts.update(
                {(relation, "insert"): inserted, (relation, "update"): updated, (relation, "delete"): deleted}
            )
        return counts

    def _oid(self, table: str) -> int:
        if table not in self._oids:
            quoted = self._connection.ops.quote_name(table)
            [[self._oids[table]]] = self._query("SELECT to_regclass(%s)::oid", [quoted])
        return self._oids[table]

    def _names(self, relations: set[int]) -> dict[int, str]:
        return dict(self._query("SELECT oid, oid::regclass::text FROM pg_class WHERE oid = ANY(%s)", [list(relations)]))

    def _query(self, sql: str, params: list[Any] | None = None) -> list[Any]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, params)
            return list(cursor.fetchall())


class NoCounters:
    """A database that keeps no counts per transaction."""

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self._name = connection.display_name

    def start(self) -> None:
        """Nothing to remember."""

    def savepoint(self, name: str, written: Written) -> None:
        """Nothing to note."""

    def rolled_back_to(self, name: str, written: Written) -> None:
        """Nothing to forgive."""

    def gaps(self, written: Written) -> list[str]:
        """Say that nobody checked."""
        return [f"{self._name} keeps no counts of written rows, so completeness is not verified."]


def _rows(number: int) -> str:
    return "1 written row" if number == 1 else f"{number} written rows"
