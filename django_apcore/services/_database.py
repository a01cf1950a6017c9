"""Where our tables are, and what every service does with a transaction there."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from uuid import UUID

from django.db import router, transaction

from django_apcore.exceptions import InsideTransactionError
from django_apcore.models import ApprovalRequest


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
