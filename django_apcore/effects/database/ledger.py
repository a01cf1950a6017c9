"""What a run has touched through one connection, row by row."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

from django_apcore.effects.database.counters import Written
from django_apcore.effects.database.tables import Key, Row, Table


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

    def note(self, rows: Iterable[Row]) -> set[Key]:
        """Note rows that are about to be written; returns their keys."""
        keys = set()
        for row in rows:
            key = self.table.key(row)
            self.before.setdefault(key, row)
            keys.add(key)
        return keys

    def note_new(self, key: Key, filled: frozenset[str]) -> None:
        """Note a new row, of which the database has filled some attributes."""
        if self.before.setdefault(key, None) is None and filled:
            self.filled[key] = filled


class Ledger:
    """The touched rows of one connection, how many were written, and what could not be accounted for."""

    def __init__(self, connection: BaseDatabaseWrapper, gate: Gate) -> None:
        self.connection, self.gate = connection, gate
        self.written: Written = Written()
        self.gaps: list[str] = []
        self._touched: dict[type[Model], Touched] = {}

    def touched(self, model: type[Model]) -> Touched:
        """The rows of one concrete model."""
        if model not in self._touched:
            self._touched[model] = Touched(Table(model, self.connection))
        return self._touched[model]

    def all_touched(self) -> list[Touched]:
        """The rows of all models, by label."""
        return sorted(self._touched.values(), key=lambda each: each.table.label)

    def current(self, touched: Touched) -> dict[Key, Row]:
        """The touched rows as they are now; those that are gone are not in it."""
        table, keys = touched.table, list(touched.before)
        return {
            table.key(row): row
            for batch in table.batches(keys, len(table.key_fields))
            for row in self.fetch(*table.select_matching(table.key_fields, batch))
        }

    def fetch(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Rows as the driver returns them, not noticed by anybody who follows the connection."""
        with self.gate.set_to(Mode.OWN), self.connection.cursor() as cursor:
            cursor.execute(sql, params)
            return list(cursor.fetchall())

    def gap(self, sentence: str) -> None:
        """Note, once, that something cannot be accounted for."""
        alias = self.connection.alias
        located = sentence if alias == DEFAULT_DB_ALIAS else f"Database {alias}: {sentence}"
        if located not in self.gaps:
            self.gaps.append(located)
