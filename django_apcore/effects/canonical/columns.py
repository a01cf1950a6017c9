"""One column as the record of a run shows it: what its values mean, and which of them only the run chose."""

import datetime as dt
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import NOT_PROVIDED, Value

from django_apcore.effects.canonical.defaults import random_source
from django_apcore.effects.canonical.values import (
    JSON_NULL,
    UncanonicalError,
    canonical_value,
    known_after_apply,
    redacted,
    unchecked,
)
from django_apcore.effects.database.tables import Table


@dataclass(frozen=True, slots=True)
class Window:
    """When a run took place, by the clocks that may have been asked for the time."""

    start: dt.datetime
    end: dt.datetime
    transactions: frozenset[dt.datetime] = frozenset()
    """When the transactions began, which is what PostgreSQL calls now()."""

    def is_now(self, value: Any) -> bool:
        """Whether a value is a time of this run."""
        if not isinstance(value, dt.datetime) or (value.tzinfo is None) != (self.start.tzinfo is None):
            return False
        return self.start <= value <= self.end or value in self.transactions

    def is_today(self, value: Any) -> bool:
        """Whether a value is the date, or the time of the day, of this run. Django takes both in local time."""
        start, end = _local(self.start), _local(self.end)
        if isinstance(value, dt.time):
            return start.time() <= value.replace(tzinfo=None) <= end.time()
        return isinstance(value, dt.date) and value in {start.date(), end.date()}


class Column:
    """`table` and `index` say where the values are; `generated` are those that the column's random default made."""

    def __init__(
        self,
        table: Table,
        index: int,
        window: Window,
        *,
        volatile: bool,
        sensitive: bool,
        generated: Collection[Hashable],
    ) -> None:
        self.index, self.field = index, table.fields[index]
        self.name, self.attname = self.field.name, self.field.attname
        self.is_key = self.field in table.key_fields
        self.volatile, self.sensitive = volatile, sensitive
        self._table, self._window, self._generated = table, window, generated
        self._random = random_source(self.field)
        self._is_stamp = bool(getattr(self.field, "auto_now", False) or getattr(self.field, "auto_now_add", False))
        self._expression = _database_default(self.field.db_default)
        generics = (each for each in table.model._meta.private_fields if getattr(each, "fk_field", None) == self.name)
        self.generic: Any = next(generics, None)
        """The generic foreign key that keeps its object's key here."""

    def value(self, raw: Any) -> Any:
        """The Python value of what the driver returned."""
        return self._table.value(self.index, raw)

    def shown(self, raw: Any) -> Any:
        """A value as canonical JSON. Raises UncanonicalError."""
        if self.volatile:
            return unchecked(self.name)
        value = self.value(raw)
        if value is None and raw is not None:
            canonical: Any = JSON_NULL
        else:
            canonical = self._canonical(value, raw)
        return redacted(canonical) if self.sensitive else canonical

    def chosen(self, value: Any, filled: frozenset[str] | None) -> dict[str, str] | None:
        """The marker for a value that the run chose and not the module.

        `filled` are the attributes of a new row that the database filled, or None for a row that was there before.
        """
        if self._window.is_now(value) or (self._is_stamp and self._window.is_today(value)):
            return known_after_apply("now")
        if filled is None:
            return None
        if self.attname in filled:
            source = "id" if self.is_key else self._expression
            return known_after_apply(source) if source else None
        if self._random and value in self._generated:
            return known_after_apply(self._random)
        return None

    def identifies(self, value: Any, filled: frozenset[str]) -> bool:
        """Whether this value of a new row was chosen by the run, and tells the row from all others."""
        marker = self.chosen(value, filled)
        if marker is None or self.is_key:
            return marker is not None
        return marker != known_after_apply("now") and (self.field.unique or isinstance(value, UUID))

    def _canonical(self, value: Any, raw: Any) -> Any:
        try:
            return canonical_value(value)
        except UncanonicalError:
            return canonical_value(raw)


def _local(moment: dt.datetime) -> dt.datetime:
    return moment if moment.tzinfo is None else moment.astimezone()


def _database_default(default: Any) -> str | None:
    """The text of a database default that is not the same for every row."""
    if default is NOT_PROVIDED or isinstance(default, Value) or not hasattr(default, "resolve_expression"):
        return None
    return str(default)
