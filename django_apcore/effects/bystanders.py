"""Databases that take no part in a run: they may be read, and nothing else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from django.db.backends.base.base import BaseDatabaseWrapper

from django_apcore.effects.errors import UngovernedWriteError
from django_apcore.effects.sql import read_statement, shortened


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
