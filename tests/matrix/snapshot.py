"""The whole of all databases as it is, read without any of the code under test."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Literal

from django.apps import apps
from django.db import connections

Address = tuple[str, str, tuple[Any, ...]]
"""Database alias, table and primary key of a row."""
Snapshot = dict[Address, dict[str, Any]]
"""Every row by its address, as columns with the values of the driver."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What happened to one row: the action and, for updates, the columns that are different."""

    action: Literal["insert", "update", "delete"]
    columns: frozenset[str] = frozenset()


def snapshot() -> Snapshot:
    """Every row of every table that a model owns."""
    return {address: row for alias in connections for address, row in _rows(alias)}


def values() -> Snapshot:
    """The rows that tests write, but with the values that the ORM makes of them, by the names of the fields."""
    found: Snapshot = {}
    for alias in connections:
        for model in chain.from_iterable(apps.get_app_config(each).get_models(True) for each in ("matrix", "auth")):
            names = [field.name for field in model._meta.local_concrete_fields]
            keys = [field.name for field in model._meta.pk_fields]
            if not model._meta.proxy:
                for row in model._base_manager.using(alias).values(*names):
                    found[alias, model._meta.db_table, tuple(_plain_key(row[name]) for name in keys)] = row
    return found


def facts(before: Snapshot, after: Snapshot) -> dict[Address, Fact]:
    """What is different between two snapshots. Columns that the database derives are left out."""
    found = {}
    for address in before.keys() | after.keys():
        old, new = before.get(address), after.get(address)
        if old is None:
            found[address] = Fact("insert")
        elif new is None:
            found[address] = Fact("delete")
        elif columns := frozenset(name for name in old if old[name] != new[name]) - _derived(address[1]):
            found[address] = Fact("update", columns)
    return found


def _rows(alias: str) -> Iterator[tuple[Address, dict[str, Any]]]:
    connection = connections[alias]
    with connection.cursor() as cursor:
        for table, key_columns in _tables().items():
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            names = [column[0] for column in cursor.description]
            for values in cursor.fetchall():
                row = dict(zip(names, map(_comparable, values), strict=True))
                yield (alias, table, tuple(_plain_key(row[name]) for name in key_columns)), row


@cache
def _tables() -> dict[str, tuple[str, ...]]:
    models = (model for model in apps.get_models(include_auto_created=True) if model._meta.managed)
    return {model._meta.db_table: tuple(field.column for field in model._meta.pk_fields) for model in models}


@cache
def _derived(table: str) -> frozenset[str]:
    return frozenset(
        field.column
        for model in apps.get_models(include_auto_created=True)
        if model._meta.db_table == table
        for field in model._meta.local_concrete_fields
        if field.generated
    )


def _comparable(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def _plain_key(value: Any) -> str:
    """A key part as text that does not depend on the database: UUIDs without dashes."""
    return str(value).replace("-", "")
