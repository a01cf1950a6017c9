"""Following an INSERT: its own rows come back from the statement, and an upsert may also hit rows that were there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.db.models import NOT_PROVIDED, DateField, Field, Model, TimeField
from django.db.models.constants import OnConflict
from django.db.models.expressions import DatabaseDefault

from django_apcore.effects.database.ledger import Ledger, Touched
from django_apcore.effects.database.tables import Key, Table


def follow_insert(
    ledger: Ledger, query: Any, table: Table, returning: Any, execute: Callable[[Any], list[Any]]
) -> list[Any]:
    """Run an INSERT, and have it return the keys of its rows besides the columns that the ORM asked for."""
    if not _returns_rows(ledger, len(query.objs)):
        ledger.gap(f"{ledger.connection.display_name} does not tell the keys of new rows of {table.name}.")
        return execute(returning)
    touched = ledger.touched(table.model)
    upserts = query.on_conflict == OnConflict.UPDATE
    existing = _note_conflicting(ledger, query, touched) if upserts else set()
    # SQLite counts inserts and updates alike, so an upsert is checked by the number of rows
    recounts = upserts and ledger.connection.vendor == "sqlite"
    rows_before = _row_count(ledger, table) if recounts else 0
    requested = list(returning or ())
    columns = requested + [each for each in table.key_fields if each not in requested]
    rows = execute(columns)
    key_at = [columns.index(each) for each in table.key_fields]
    keys = [tuple(row[at] for at in key_at) for row in rows]
    added = _note_new(ledger, query, touched, keys, existing)
    if recounts and _row_count(ledger, table) - rows_before != added:
        ledger.gap(f"An upsert into {table.name} overwrote rows that could not be told beforehand.")
    return [tuple(row[: len(requested)]) for row in rows] if requested else []


def _returns_rows(ledger: Ledger, number: int) -> bool:
    features = ledger.connection.features
    return features.can_return_columns_from_insert and (number == 1 or features.can_return_rows_from_bulk_insert)


def _row_count(ledger: Ledger, table: Table) -> int:
    quoted = ledger.connection.ops.quote_name(table.name)
    [[number]] = ledger.fetch(f"SELECT COUNT(*) FROM {quoted}")  # noqa: S608 - the name is quoted
    return int(number)


def _note_new(ledger: Ledger, query: Any, touched: Touched, keys: list[Key], existing: set[Key]) -> int:
    filled = _left_to_database(query, touched.table, len(keys))
    new = [position for position, key in enumerate(keys) if key not in existing]
    for position in new:
        touched.note_new(keys[position], filled[position])
    ledger.written[touched.table.name, "insert"] += len(new)
    ledger.written[touched.table.name, "update"] += len(keys) - len(new)
    return len(new)


def _note_conflicting(ledger: Ledger, query: Any, touched: Touched) -> set[Key]:
    """Note the rows that an upsert will find in its way; returns their keys."""
    table = touched.table
    fields = [table.field(each) if isinstance(each, str) else each for each in query.unique_fields]
    values = [tuple(getattr(each, one.attname) for one in fields) for each in query.objs]
    unknown = any(hasattr(each, "resolve_expression") for value in values for each in value)
    if not fields or unknown or any(map(_is_computed_on_save, fields)):
        ledger.gap(f"An upsert into {table.name} matches on values that only the database or the save computes.")
        return set()
    lock = " FOR UPDATE" if ledger.connection.features.has_select_for_update else ""
    found: set[Key] = set()
    for batch in table.batches(values, len(fields)):
        found |= touched.note(ledger.fetch(*table.select_matching(fields, batch, lock)))
    return found


def _is_computed_on_save(one: Field[Any, Any]) -> bool:
    if isinstance(one, DateField | TimeField):
        return one.auto_now or one.auto_now_add
    return type(one).pre_save is not Field.pre_save


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
