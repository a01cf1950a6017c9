"""Databases and connections that take no part in a run: they may be read, and nothing else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from django_apcore.effects.active import active_run
from django_apcore.effects.database.sql import read_statement, shortened
from django_apcore.effects.errors import UngovernedWriteError


@contextmanager
def only_read(connection: BaseDatabaseWrapper, gaps: list[str]) -> Iterator[None]:
    """Refuse writes and on_commit callbacks on a connection, and note each refusal in `gaps`.

    Outside of a transaction, Django would run such a callback at once.
    """

    def refuse(what: str) -> NoReturn:
        sentence = f"Database {connection.alias} takes no part in this run, so this was refused: {what}"
        if sentence not in gaps:
            gaps.append(sentence)
        raise UngovernedWriteError(sentence, details={"database": connection.alias})

    def on_statement(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if read_statement(str(sql)).kind == "suspect":
            refuse(shortened(str(sql)))
        return execute(sql, params, many, context)

    def on_commit(callback: Callable[[], object], robust: bool = False) -> None:
        refuse("a callback after its commit")

    vars(connection)["on_commit"] = on_commit
    connection.execute_wrappers.insert(0, on_statement)
    try:
        yield
    finally:
        connection.execute_wrappers.remove(on_statement)
        del vars(connection)["on_commit"]


def watch_other_connections() -> None:
    """Have every connection refuse to write for a run that it does not belong to. Idempotent.

    A module reaches one through a thread that works in its context (`asyncio.to_thread()`, or `sync_to_async()` off the
    sensitive thread), or by opening it. Such a write would be committed at once, in a preview too.
    """
    connection_created.connect(_watch, dispatch_uid="django_apcore.effects.database.bystanders")


def _watch(connection: BaseDatabaseWrapper, **signal: Any) -> None:
    if _refuse_for_others not in connection.execute_wrappers:
        connection.execute_wrappers.append(_refuse_for_others)


def _refuse_for_others(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
    run, connection = active_run(), context["connection"]
    if run is not None and id(connection) not in run.connections and read_statement(str(sql)).kind == "suspect":
        sentence = (
            f"Another connection to database {connection.alias}, perhaps of another thread, takes no part in this run, "
            f"so this was refused: {shortened(str(sql))}"
        )
        run.refused.append(sentence)
        raise UngovernedWriteError(sentence, details={"database": connection.alias})
    return execute(sql, params, many, context)
