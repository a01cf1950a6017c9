"""One model's table on one connection: how its rows are selected, identified and turned into Python values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field, Model
from django.db.models.sql import Query

Row = tuple[Any, ...]
"""The columns of a row as the driver returned them."""
Key = tuple[Any, ...]
"""The primary key of a row as Python values."""

_LONGEST_BATCH = 5000
"""How many parameters a statement gets at most."""


class Table:
    """Rows stay as the driver returned them until one of their values is needed: comparing raw rows is fast, and it
    tells SQL NULL from JSON null. Generated columns are left out: they follow from the others."""

    def __init__(self, model: type[Model], connection: BaseDatabaseWrapper) -> None:
        meta = model._meta
        self.model, self.label, self.name = model, meta.label, meta.db_table
        self.fields: tuple[Field[Any, Any], ...] = tuple(f for f in meta.local_concrete_fields if not f.generated)
        self.key_fields: tuple[Field[Any, Any], ...] = tuple(meta.pk_fields)
        self._connection = connection
        compiler = Query(model).get_compiler(connection=connection)
        columns = [field.get_col(self.name) for field in self.fields]
        self._columns = ", ".join(column.select_format(compiler, *compiler.compile(column))[0] for column in columns)
        self._converters = compiler.get_converters(columns)
        self._key_at = [self.fields.index(field) for field in self.key_fields]
        self._plain_key_at = self._key_at[0] if len(self._key_at) == 1 else -1
        if self._plain_key_at in self._converters:
            self._plain_key_at = -1

    def field(self, name: str) -> Field[Any, Any]:
        """The field with this name. Raises StopIteration if there is none."""
        return next(field for field in self.fields if field.name == name)

    def key(self, row: Row) -> Key:
        """The primary key of a row."""
        if self._plain_key_at >= 0:
            return (row[self._plain_key_at],)
        return tuple(self.value(index, row[index]) for index in self._key_at)

    def value(self, index: int, raw: Any) -> Any:
        """The Python value of the column at `index`."""
        converters = self._converters.get(index)
        if converters is None:
            return raw
        functions, expression = converters
        for function in functions:
            raw = function(raw, expression, self._connection)
        return raw

    def select(self, source: str | None = None, lock: str = "") -> str:
        """A query for whole rows; `source` is everything that follows FROM, by default the table."""
        return f"SELECT {self._columns} FROM {source or self._quote(self.name)}{lock}"  # noqa: S608 - names are quoted

    def select_matching(
        self, fields: Sequence[Field[Any, Any]], values: Sequence[Sequence[Any]], lock: str = ""
    ) -> tuple[str, list[Any]]:
        """A query for the rows whose `fields` have one of the given combinations of values, and its parameters."""
        params = [
            field.get_db_prep_value(value, self._connection)
            for combination in values
            for field, value in zip(fields, combination, strict=True)
        ]
        names = [f"{self._quote(self.name)}.{self._quote(str(field.column))}" for field in fields]
        if len(fields) == 1:
            condition = f"{names[0]} IN ({_placeholders(values)})"
        else:
            # SQLite takes several rows as VALUES only, while PostgreSQL would settle their column types too early there
            keyword = "VALUES " if self._connection.vendor == "sqlite" else ""
            combinations = ", ".join([f"({_placeholders(fields)})"] * len(values))
            condition = f"({', '.join(names)}) IN ({keyword}{combinations})"
        return self.select(f"{self._quote(self.name)} WHERE {condition}", lock), params

    def batches(self, values: Sequence[Sequence[Any]], width: int) -> Iterable[Sequence[Sequence[Any]]]:
        """Cut combinations of `width` values into pieces that fit into one statement."""
        size = max(1, min(self._connection.features.max_query_params or _LONGEST_BATCH, _LONGEST_BATCH) // width)
        return (values[start : start + size] for start in range(0, len(values), size))

    def _quote(self, name: str) -> str:
        return self._connection.ops.quote_name(name)


def concrete(model: type[Model]) -> type[Model]:
    """The model that has the table: a proxy's original."""
    return model._meta.concrete_model or model


def _placeholders(items: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(items))
