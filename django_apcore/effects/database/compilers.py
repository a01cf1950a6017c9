"""The SQL compilers of a connection, extended so that capture knows what each written statement will touch."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, Self

from django.core.exceptions import FullResultSet
from django.db.models import Model

from django_apcore.effects.database.counters import WriteAction
from django_apcore.effects.database.tables import Table


class Follower(Protocol):
    """Whoever wants to know about each statement that writes."""

    def table(self, model: type[Model]) -> Table:
        """The table of a concrete model."""

    def insert(self, compiler: Any, table: Table, returning: Any, execute: Callable[[Any], list[Any]]) -> list[Any]:
        """Run an INSERT; returns the rows of the columns in `returning`."""


class Tracked(str):
    """The text of a statement that an ORM compiler wrote, with what is needed to follow it.

    `source` is what follows FROM in a query for the rows that the statement will touch, and `params` are its
    parameters. Both are empty for an INSERT, whose rows come back from the statement itself.
    """

    __slots__ = ("action", "params", "returns_rows", "rewrites_key", "source", "table")

    action: WriteAction
    table: Table
    source: str
    params: tuple[Any, ...]
    returns_rows: bool
    rewrites_key: bool

    def __new__(
        cls,
        sql: str,
        action: WriteAction,
        table: Table,
        source: str = "",
        params: Iterable[Any] = (),
        *,
        returns_rows: bool = False,
        rewrites_key: bool = False,
    ) -> Self:
        tracked = super().__new__(cls, sql)
        tracked.action, tracked.table, tracked.source, tracked.params = action, table, source, tuple(params)
        tracked.returns_rows, tracked.rewrites_key = returns_rows, rewrites_key
        return tracked


class _Extension:
    """Mixed into a compiler of the backend. Text and execution stay the backend's own."""

    follower: Follower
    query: Any
    connection: Any
    compile: Callable[..., tuple[str, Iterable[Any]]]

    def _table(self) -> Table:
        return self.follower.table(self.query.get_meta().concrete_model)


class _Insert(_Extension):
    def as_sql(self, *args: Any, **kwargs: Any) -> list[tuple[str, Any]]:
        statements = super().as_sql(*args, **kwargs)  # type: ignore[misc]  # the backend's compiler
        return [(Tracked(sql, "insert", self._table()), params) for sql, params in statements]

    def execute_sql(self, returning_fields: Any = None) -> list[Any]:
        return self.follower.insert(self, self._table(), returning_fields, super().execute_sql)  # type: ignore[misc]  # a mixin


class _Update(_Extension):
    returning_fields: Any = None

    def as_sql(self, *args: Any, **kwargs: Any) -> tuple[str, Any]:
        sql, params = super().as_sql(*args, **kwargs)  # type: ignore[misc]  # the backend's compiler
        if not sql:
            return sql, params
        table = self._table()
        source: str = self.connection.ops.quote_name(table.name)
        condition_params: Iterable[Any] = ()
        try:
            # as_sql() has rewritten the query: this is the very condition that the UPDATE carries
            condition, condition_params = self.compile(self.query.where)
            source = f"{source} WHERE {condition}"
        except FullResultSet:
            pass
        rewrites_key = any(field in table.key_fields for field, _model, _value in self.query.values)
        returns_rows = bool(self.returning_fields)
        tracked = Tracked(
            sql, "update", table, source, condition_params, returns_rows=returns_rows, rewrites_key=rewrites_key
        )
        return tracked, params


class _Delete(_Extension):
    _PREFIX = "DELETE FROM "

    def as_sql(self, *args: Any, **kwargs: Any) -> tuple[str, Any]:
        sql, params = super().as_sql(*args, **kwargs)  # type: ignore[misc]  # the backend's compiler
        if not sql.startswith(self._PREFIX):
            return sql, params  # of a shape that nobody can follow, so it is refused as if it were raw
        return Tracked(sql, "delete", self._table(), sql.removeprefix(self._PREFIX), params), params


_EXTENSIONS: dict[str, type[_Extension]] = {
    "SQLInsertCompiler": _Insert,
    "SQLUpdateCompiler": _Update,
    "SQLDeleteCompiler": _Delete,
}


def extended(name: str, compiler: type, follower: Follower) -> type:
    """The backend's compiler of this name, reporting to `follower` if it writes."""
    extension = _EXTENSIONS.get(name)
    return compiler if extension is None else type(name, (extension, compiler), {"follower": follower})
