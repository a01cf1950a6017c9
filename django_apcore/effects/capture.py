"""Follows every row that the ORM writes through one connection. Acts on the connection object alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NoReturn

from django.db import DEFAULT_DB_ALIAS
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import NOT_PROVIDED, DateField, Field, Model, TimeField
from django.db.models.constants import OnConflict
from django.db.models.expressions import DatabaseDefault

from django_apcore.effects.compilers import Tracked, extended
from django_apcore.effects.counters import Written, counters_of
from django_apcore.effects.errors import UngovernedWriteError
from django_apcore.effects.fences import fence_of
from django_apcore.effects.sql import Statement, read_statement, shortened
from django_apcore.effects.tables import Key, Row, Table

Execute = Callable[[str, Any, bool, dict[str, Any]], Any]

_TRANSACTION_VERBS = frozenset({"COMMIT", "END", "ROLLBACK", "ABORT", "BEGIN", "START", "PREPARE"})


class QueryNotAllowedError(Exception):
    """A query was made where none may be."""


class Mode(Enum):
    """Whose statements are running."""

    MODULE = "module"
    OWN = "own"
    NOBODY = "nobody"


@dataclass(slots=True)
class Gate:
    """The mode of a run, shared by all its connections."""

    mode: Mode = Mode.MODULE

    @contextmanager
    def set_to(self, mode: Mode) -> Iterator[None]:
        """Another mode for a while."""
        before, self.mode = self.mode, mode
        try:
            yield
        finally:
            self.mode = before


@dataclass(slots=True)
class Touched:
    """The rows of one table that were written: what they were before the first write, or None for new ones."""

    table: Table
    before: dict[Key, Row | None] = field(default_factory=dict)
    filled: dict[Key, frozenset[str]] = field(default_factory=dict)
    """Attributes of new rows whose values the database chose."""


class Capture:
    """One connection during one run."""

    def __init__(self, connection: BaseDatabaseWrapper, gate: Gate) -> None:
        """The connection must be inside a transaction."""
        self.connection, self.alias = connection, connection.alias
        self.touched: dict[type[Model], Touched] = {}
        self.gaps: list[str] = []
        self._gate = gate
        self._written: Written = Written()
        self._counters = counters_of(connection)
        self._fence = fence_of(connection, self._turned_away, self.judge)
        self._compilers: dict[str, type] = {}

    # -- the life of a capture ----------------------------------------------------------------------------------------

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Follow the connection for a while."""
        hooks = vars(self.connection.ops)
        compiler_before = self.connection.ops.compiler
        with self._gate.set_to(Mode.OWN):
            self._counters.start()
        self._fence.set_up()

        def compiler(name: str) -> type:
            if name not in self._compilers:
                self._compilers[name] = extended(name, compiler_before(name), self)
            return self._compilers[name]

        hooks["compiler"] = compiler
        # outermost, so that the text is still the compiler's own
        self.connection.execute_wrappers.insert(0, self._on_statement)
        try:
            yield
        finally:
            del hooks["compiler"]
            self.connection.execute_wrappers.remove(self._on_statement)
            self._fence.take_down()

    def close(self) -> None:
        """Check the transaction and compare the counts, when the module is done. Raises TransactionEndedError."""
        self._fence.check_transaction()
        self.gaps += [self._located(gap) for gap in self._counters.gaps(self._written)]

    def written_tables(self) -> set[str]:
        """The tables in which anything was written."""
        return {table for table, _action in self._written}

    # -- statements ---------------------------------------------------------------------------------------------------

    def judge(self, sql: Any) -> Statement:
        """Look at a statement that no ORM compiler wrote. Raises UngovernedWriteError if it must not run."""
        text = _text(sql, self.connection)
        statement = read_statement(text)
        if statement.kind == "suspect":
            controls = statement.verb in _TRANSACTION_VERBS
            self._refuse(text, "it controls the transaction" if controls else "it may write past the ORM")
        if objection := self._fence.objection(text):
            self._refuse(text, objection)
        return statement

    def _on_statement(self, execute: Execute, sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if self._gate.mode is Mode.OWN:
            return self._admit(execute, sql, params, many, context)
        if self._gate.mode is Mode.NOBODY:
            raise QueryNotAllowedError
        if type(sql) is Tracked:
            return self._follow(execute, sql, params, many, context)
        statement = self.judge(sql)
        if statement.verb == "SAVEPOINT":
            self._counted(self._counters.savepoint, statement.savepoint)
        result = execute(sql, params, many, context)
        if statement.verb == "ROLLBACK":
            self._counted(self._counters.rolled_back_to, statement.savepoint)
        return result

    def _admit(self, execute: Execute, *statement: Any) -> Any:
        before, self._fence.admits = self._fence.admits, True
        try:
            return execute(*statement)
        finally:
            self._fence.admits = before

    def _counted(self, note: Callable[[str, Written], None], savepoint: str) -> None:
        with self._gate.set_to(Mode.OWN):
            note(savepoint, self._written)

    def _follow(self, execute: Execute, sql: Tracked, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if objection := self._fence.objection(sql):
            self._refuse(sql, objection)
        if sql.action == "insert":
            return self._admit(execute, sql, params, many, context)
        rows = self.fetch(sql.table.select(sql.source, self._lock(sql)), sql.params)
        before = self._touched(sql.table).before
        for row in rows:
            before.setdefault(sql.table.key(row), row)
        result = self._admit(execute, sql, params, many, context)
        self._note_written(sql, len(rows), context["cursor"].rowcount)
        return result

    def _note_written(self, sql: Tracked, expected: int, written: int) -> None:
        if sql.returns_rows and self.connection.vendor == "sqlite":
            written = expected  # SQLite knows only when the rows were fetched; its counters decide in the end
        if sql.rewrites_key:
            self.gap(f"An update changed primary keys of {sql.table.name}; which rows they are now cannot be followed.")
        if written != expected:
            self.gap(f"{expected} rows of {sql.table.name} were there to {sql.action}, and {written} were written.")
        self._written[sql.table.name, sql.action] += written

    def _lock(self, sql: Tracked) -> str:
        if not self.connection.features.has_select_for_update:
            return ""
        weaker = sql.action == "update" and self.connection.features.has_select_for_no_key_update
        return " FOR NO KEY UPDATE" if weaker else " FOR UPDATE"

    # -- inserts ------------------------------------------------------------------------------------------------------

    def insert(self, compiler: Any, table: Table, returning: Any, execute: Callable[[Any], list[Any]]) -> list[Any]:
        """Run an INSERT, and have it return the keys of its rows besides what the ORM asked for."""
        query = compiler.query
        if not self._returns_rows(len(query.objs)):
            self.gap(f"{self.connection.display_name} does not tell the keys of new rows of {table.name}.")
            return execute(returning)
        existing = self._touch_conflicting(query, table) if query.on_conflict == OnConflict.UPDATE else set()
        requested = list(returning or ())
        columns = requested + [each for each in table.key_fields if each not in requested]
        rows = execute(columns)
        key_at = [columns.index(each) for each in table.key_fields]
        keys = [tuple(row[at] for at in key_at) for row in rows]
        self._touch_new(query, table, keys, existing)
        return [tuple(row[: len(requested)]) for row in rows] if requested else []

    def _returns_rows(self, number: int) -> bool:
        features = self.connection.features
        return features.can_return_columns_from_insert and (number == 1 or features.can_return_rows_from_bulk_insert)

    def _touch_new(self, query: Any, table: Table, keys: list[Key], existing: set[Key]) -> None:
        touched = self._touched(table)
        filled = _left_to_database(query, table, len(keys))
        for position, key in enumerate(keys):
            if key in existing:
                continue
            if touched.before.setdefault(key, None) is None and filled[position]:
                touched.filled[key] = filled[position]
        updated = sum(key in existing for key in keys)
        self._written[table.name, "update"] += updated
        self._written[table.name, "insert"] += len(keys) - updated

    def _touch_conflicting(self, query: Any, table: Table) -> set[Key]:
        """Note the rows that an upsert will find in its way."""
        fields = [table.field(each) if isinstance(each, str) else each for each in query.unique_fields]
        values = [tuple(getattr(each, one.attname) for one in fields) for each in query.objs]
        unknown = any(hasattr(each, "resolve_expression") for value in values for each in value)
        if not fields or unknown or any(map(_is_computed_on_save, fields)):
            self.gap(f"An upsert into {table.name} matches on values that only the database or the save computes.")
            return set()
        before, found = self._touched(table).before, set()
        lock = " FOR UPDATE" if self.connection.features.has_select_for_update else ""
        for batch in table.batches(values, len(fields)):
            for row in self.fetch(*table.select_matching(fields, batch, lock)):
                key = table.key(row)
                before.setdefault(key, row)
                found.add(key)
        return found

    # -- rows ---------------------------------------------------------------------------------------------------------

    def table(self, model: type[Model]) -> Table:
        """The table of a concrete model."""
        if model not in self.touched:
            self.touched[model] = Touched(Table(model, self.connection))
        return self.touched[model].table

    def current(self, touched: Touched) -> dict[Key, Row]:
        """The touched rows as they are now; those that are gone are not in it."""
        table, keys = touched.table, list(touched.before)
        rows: dict[Key, Row] = {}
        for batch in table.batches(keys, len(table.key_fields)):
            for row in self.fetch(*table.select_matching(table.key_fields, batch)):
                rows[table.key(row)] = row
        return rows

    def fetch(self, sql: str, params: Sequence[Any]) -> list[Row]:
        """Rows as the driver returns them, not noticed by capture."""
        with self._gate.set_to(Mode.OWN), self.connection.cursor() as cursor:
            cursor.execute(sql, params)
            return list(cursor.fetchall())

    def _touched(self, table: Table) -> Touched:
        return self.touched[table.model]

    # -- what went wrong ----------------------------------------------------------------------------------------------

    def gap(self, sentence: str) -> None:
        """Note once that something cannot be accounted for."""
        if (located := self._located(sentence)) not in self.gaps:
            self.gaps.append(located)

    def _refuse(self, sql: str, reason: str) -> NoReturn:
        statement = shortened(sql)
        self.gap(f"A statement was refused before it ran, because {reason}: {statement}")
        raise UngovernedWriteError(
            f"This statement was refused, because {reason}: {statement}",
            details={"statement": statement, "database": self.alias},
            suggestion="Write through the ORM, where the effect can be shown to an approver before it happens.",
        )

    def _turned_away(self, action: str) -> None:
        self.gap(f"The database refused a statement that went past Django: {action}.")

    def _located(self, sentence: str) -> str:
        return sentence if self.alias == DEFAULT_DB_ALIAS else f"Database {self.alias}: {sentence}"


def _left_to_database(query: Any, table: Table, rows: int) -> list[frozenset[str]]:
    """For each new row, the attributes whose values the database chooses."""
    automatic = frozenset(each.attname for each in table.key_fields if each not in (query.fields or ()))
    defaulted = [each for each in table.fields if each.db_default is not NOT_PROVIDED]
    if not defaulted:
        return [automatic] * rows
    filled = [automatic | _defaulted(defaulted, query, one) for one in query.objs]
    # rows that met a conflict are missing, and nobody says which: then only what holds for every object is sure
    return filled if len(filled) == rows else [frozenset.intersection(*filled)] * rows


def _defaulted(fields: Iterable[Field[Any, Any]], query: Any, one: Model) -> frozenset[str]:
    return frozenset(
        each.attname
        for each in fields
        if each not in query.fields or isinstance(getattr(one, each.attname), DatabaseDefault)
    )


def _is_computed_on_save(one: Field[Any, Any]) -> bool:
    if isinstance(one, DateField | TimeField):
        return one.auto_now or one.auto_now_add
    return type(one).pre_save is not Field.pre_save


def _text(sql: Any, connection: BaseDatabaseWrapper) -> str:
    """A statement as text, whatever the driver took it as."""
    if isinstance(sql, str):
        return sql
    if isinstance(sql, bytes):
        return sql.decode()
    return str(sql.as_string(connection.connection))
