"""Follows every statement of one connection. Acts on the connection object alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

from django_apcore.effects.database.compilers import Tracked, extended
from django_apcore.effects.database.counters import counters_of
from django_apcore.effects.database.fences import fence_of
from django_apcore.effects.database.inserts import follow_insert
from django_apcore.effects.database.ledger import Gate, Ledger, Mode
from django_apcore.effects.database.sql import Statement, read_statement, shortened
from django_apcore.effects.database.tables import Table
from django_apcore.effects.errors import UngovernedWriteError

Execute = Callable[[str, Any, bool, dict[str, Any]], Any]

_TRANSACTION_VERBS = frozenset({"COMMIT", "END", "ROLLBACK", "ABORT", "BEGIN", "START", "PREPARE"})


class QueryNotAllowedError(Exception):
    """A query was made where none may be."""


class Capture:
    """One connection during one run. The connection must be inside a transaction."""

    def __init__(self, connection: BaseDatabaseWrapper, gate: Gate) -> None:
        self.connection, self.alias = connection, connection.alias
        self.ledger = Ledger(connection, gate)
        self._gate = gate
        self._counters = counters_of(connection)
        self._fence = fence_of(connection, self._turned_away, self.judge)
        self._compilers: dict[str, type] = {}

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Follow the connection for a while."""
        with self._gate.set_to(Mode.OWN):
            self._counters.start()
        self._fence.set_up()
        hooks, original = vars(self.connection.ops), self.connection.ops.compiler

        def compiler(name: str) -> type:
            if name not in self._compilers:
                self._compilers[name] = extended(name, original(name), self)
            return self._compilers[name]

        hooks["compiler"] = compiler
        # outermost, so that the text is still the compiler's own
        wrappers, wrapper = self.connection.execute_wrappers, self._on_statement
        wrappers.insert(0, wrapper)
        try:
            yield
        finally:
            hooks.pop("compiler", None)
            wrappers[:] = [each for each in wrappers if each is not wrapper]
            self._fence.take_down()

    def close(self) -> None:
        """Check the transaction and compare the counts, when the module is done. Raises TransactionEndedError."""
        self._fence.check_transaction()
        for gap in self._counters.gaps(self.ledger.written):
            self.ledger.gap(gap)

    def written_tables(self) -> set[str]:
        """The tables in which anything was written."""
        return {table for table, _action in self.ledger.written}

    # -- for the compilers --------------------------------------------------------------------------------------------

    def table(self, model: type[Model]) -> Table:
        """The table of a concrete model."""
        return self.ledger.touched(model).table

    def insert(self, compiler: Any, table: Table, returning: Any, execute: Callable[[Any], list[Any]]) -> list[Any]:
        """Run an INSERT; returns the rows of the columns in `returning`."""
        return follow_insert(self.ledger, compiler.query, table, returning, execute)

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
            with self._gate.set_to(Mode.OWN):
                self._counters.savepoint(statement.savepoint, self.ledger.written)
        result = execute(sql, params, many, context)
        if statement.verb == "ROLLBACK":
            with self._gate.set_to(Mode.OWN):
                self._counters.rolled_back_to(statement.savepoint, self.ledger.written)
        return result

    def _admit(self, execute: Execute, *statement: Any) -> Any:
        before, self._fence.admits = self._fence.admits, True
        try:
            return execute(*statement)
        finally:
            self._fence.admits = before

    def _write(self, execute: Execute, *statement: Any) -> Any:
        with self._fence.open_for_writing():
            return execute(*statement)

    def _follow(self, execute: Execute, sql: Tracked, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if objection := self._fence.objection(sql):
            self._refuse(sql, objection)
        if sql.action == "insert":
            return self._write(execute, sql, params, many, context)
        rows = self.ledger.fetch(sql.table.select(sql.source, self._lock(sql)), sql.params)
        noted = len(self.ledger.touched(sql.table.model).note(rows))
        result = self._write(execute, sql, params, many, context)
        self._note_written(sql, noted, context["cursor"].rowcount)
        return result

    def _note_written(self, sql: Tracked, noted: int, written: int) -> None:
        """Count what was noted; the database's own counts must come to the same."""
        self.ledger.written[sql.table.name, sql.action] += noted
        if sql.rewrites_key:
            self.ledger.gap(f"An update changed primary keys of {sql.table.name}; the new keys cannot be followed.")
        # SQLite knows the number only when returned rows have been fetched
        known = self.connection.vendor != "sqlite" or not sql.returns_rows
        if known and written != noted:
            self.ledger.gap(f"{sql.table.name} had {noted} rows to {sql.action}, and {written} were written.")

    def _lock(self, sql: Tracked) -> str:
        if not self.connection.features.has_select_for_update:
            return ""
        weaker = sql.action == "update" and self.connection.features.has_select_for_no_key_update
        return " FOR NO KEY UPDATE" if weaker else " FOR UPDATE"

    # -- refusals -----------------------------------------------------------------------------------------------------

    def _refuse(self, sql: str, reason: str) -> NoReturn:
        statement = shortened(sql)
        self.ledger.gap(f"A statement was refused before it ran, because {reason}: {statement}")
        raise UngovernedWriteError(
            f"This statement was refused, because {reason}: {statement}",
            details={"statement": statement, "database": self.alias},
            suggestion="Write through the ORM, where the effect can be shown to an approver before it happens.",
        )

    def _turned_away(self, action: str) -> None:
        self.ledger.gap(f"The database refused a statement that went past Django: {action}.")


def _text(sql: Any, connection: BaseDatabaseWrapper) -> str:
    """A statement as text, whatever the driver took it as."""
    if isinstance(sql, str):
        return sql
    if isinstance(sql, bytes):
        return sql.decode()
    return str(sql.as_string(connection.connection))
