"""Where our tables are, and what every service does with a transaction there."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from uuid import UUID

from django.db import InterfaceError, OperationalError, router, transaction

from apcore.errors import ModuleError
from django_apcore.exceptions import InsideTransactionError
from django_apcore.models import ApprovalRequest

_PASSING_SQLSTATES = ("08", "40", "53", "55P03", "57P")
"""Connection lost, transactions in each other's way, resources used up, lock not to be had, server shut down."""
_LOST_SQLSTATES = ("08", "57P")
_PASSING_IN_SQLITE = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN}
)


def alias() -> str:
    """The database that holds our tables."""
    return router.db_for_write(ApprovalRequest)


def row_id(text: UUID | str) -> UUID:
    """The key that a caller means. What is no UUID becomes one that no row has."""
    try:
        return text if isinstance(text, UUID) else UUID(text)
    except (ValueError, TypeError, AttributeError):
        return UUID(int=0)


def atomic() -> transaction.Atomic:
    """A transaction, or a savepoint inside the caller's."""
    return transaction.atomic(using=alias())


def may_pass(error: BaseException | None) -> bool:
    """Whether an error tells of trouble that the database has just now, so that another attempt makes sense."""
    met = _met(error)
    if isinstance(met, InterfaceError):
        return True
    if not isinstance(met, OperationalError):
        return False
    if isinstance(met.__cause__, sqlite3.Error):
        return getattr(met.__cause__, "sqlite_errorcode", 0) & 0xFF in _PASSING_IN_SQLITE
    # Without a state it is the driver that speaks: of a connection that it cannot make, or has lost.
    state = sqlstate_of(met)
    return state is None or state.startswith(_PASSING_SQLSTATES)


def is_connection_lost(error: BaseException | None) -> bool:
    """Whether the connection itself was lost: if that was at a COMMIT, nobody knows whether it took place."""
    met = _met(error)
    if isinstance(met, OperationalError) and not isinstance(met.__cause__, sqlite3.Error):
        state = sqlstate_of(met)
        return state is None or state.startswith(_LOST_SQLSTATES)
    return isinstance(met, InterfaceError)


def sqlstate_of(error: BaseException | None) -> str | None:
    """What PostgreSQL calls an error; None for errors that do not come from it."""
    state = getattr(getattr(_met(error), "__cause__", None), "sqlstate", None)
    return None if state is None else str(state)


def _met(error: BaseException | None) -> BaseException | None:
    """What a module met that failed; it may have met it in the call of another module."""
    while isinstance(error, ModuleError):
        error = error.__cause__
    return error


@contextmanager
def durable() -> Iterator[None]:
    """A transaction that commits when it ends. Raises InsideTransactionError where the caller could still undo it."""
    with ExitStack() as stack:
        try:
            stack.enter_context(transaction.atomic(using=alias(), durable=True))
        except RuntimeError as error:
            raise InsideTransactionError(
                "A call that needs an approval was made inside a transaction, whose rollback would take the approval "
                "request back.",
                suggestion="Make the call outside of atomic(); exempt views with @non_atomic_requests from "
                "ATOMIC_REQUESTS; do not call it from a module that itself runs in a transaction.",
            ) from error
        yield
