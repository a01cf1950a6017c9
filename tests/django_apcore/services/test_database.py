"""Which errors of a database pass by themselves."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from django.db import Error, InterfaceError, OperationalError, ProgrammingError

from apcore.errors import ModuleExecuteError
from django_apcore.services import may_pass, sqlstate_of


def locked_out(directory: Path) -> Exception:
    """What SQLite says to the second writer."""
    writers = [sqlite3.connect(directory / "one.sqlite3", timeout=0, isolation_level=None) for _ in range(2)]
    try:
        writers[0].execute("BEGIN IMMEDIATE")
        return raised(lambda: writers[1].execute("BEGIN IMMEDIATE"))
    finally:
        for writer in writers:
            writer.close()


def without_table(directory: Path) -> Exception:
    with sqlite3.connect(":memory:") as connection:
        return raised(lambda: connection.execute("SELECT * FROM nowhere"))


def nobody_listens(directory: Path) -> Exception:
    return raised(lambda: psycopg.connect("postgresql://postgres@127.0.0.1:1/nowhere"))


def raised(act: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the caller knows which
        act()
    return caught.value


@pytest.mark.parametrize(
    ("happen", "passes"),
    [
        (locked_out, True),
        (without_table, False),
        (nobody_listens, True),
        (lambda directory: psycopg.OperationalError("the connection is closed"), True),
        (lambda directory: psycopg.errors.SerializationFailure(), True),
        (lambda directory: psycopg.errors.LockNotAvailable(), True),
        (lambda directory: psycopg.errors.AdminShutdown(), True),
        (lambda directory: psycopg.errors.QueryCanceled(), False),
    ],
    ids=["locked", "no table", "not there", "closed", "serialisation", "row locked", "shut down", "too slow"],
)
def test_trouble_of_the_database_passes_and_mistakes_do_not(
    tmp_path: Path, happen: Callable[[Path], Exception], passes: bool
) -> None:
    error = OperationalError("what Django makes of it")
    error.__cause__ = happen(tmp_path)
    assert may_pass(error) is passes
    assert may_pass(ModuleExecuteError("a module met it", cause=ModuleExecuteError("nested", cause=error))) is passes


@pytest.mark.parametrize("error", [None, Error(), ProgrammingError(), ValueError(), ModuleExecuteError("no")])
def test_other_errors_do_not_pass(error: BaseException | None) -> None:
    assert not may_pass(error)
    assert sqlstate_of(error) is None


def test_a_broken_connection_passes() -> None:
    assert may_pass(InterfaceError("connection already closed"))
