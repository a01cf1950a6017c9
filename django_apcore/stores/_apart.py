"""Database work that is no part of any transaction of its thread."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connections, models, transaction


@contextmanager
def transaction_apart(alias: str) -> Iterator[None]:
    """A transaction on a connection of its own, closed afterwards.

    Whatever transaction this thread is in on that database, the block neither waits for it nor is undone with it.
    """
    own = connections[alias]
    connections[alias] = own.copy()
    try:
        with transaction.atomic(using=alias):
            yield
    finally:
        connections[alias].close()
        connections[alias] = own


def is_in_memory(alias: str) -> bool:
    """Whether this is SQLite without a file: only this process sees it, and a second connection blocks the first."""
    asked = getattr(connections[alias], "is_in_memory_db", None)
    return asked is not None and bool(asked())


def upsert(
    alias: str,
    model: type[models.Model],
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    on: str,
    update: str,
) -> None:
    """Insert rows, or change those that are there: one statement, in which nobody reads what another has changed.

    ``on`` names the columns of the unique constraint; ``update`` is what follows ``DO UPDATE SET``; in it ``{table}``
    stands for the row that is there, and ``excluded`` for the new one.
    """
    connection = connections[alias]
    table = connection.ops.quote_name(model._meta.db_table)
    fields: list[Any] = [model._meta.get_field(name) for name in columns]
    names = ", ".join(connection.ops.quote_name(field.column) for field in fields)
    places = ", ".join(["(" + ", ".join(["%s"] * len(fields)) + ")"] * len(rows))
    conflict = f"ON CONFLICT ({on}) DO UPDATE SET {update.format(table=table)}"
    statement = f"INSERT INTO {table} ({names}) VALUES {places} {conflict}"  # noqa: S608 - names of our own tables
    values = [
        field.get_db_prep_save(value, connection) for row in rows for field, value in zip(fields, row, strict=True)
    ]
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
