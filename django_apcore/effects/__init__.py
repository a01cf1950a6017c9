"""What a call does to the project's databases and what it sends, known before it is committed."""

from django_apcore.effects.active import is_governed, keep_books
from django_apcore.effects.diff import Difference, FieldDifference, compare_changes
from django_apcore.effects.errors import (
    HeldResultError,
    OutsideEffectError,
    TransactionEndedError,
    UngovernedWriteError,
    UnholdableMessageError,
)
from django_apcore.effects.held.outbox import send_again
from django_apcore.effects.hooks import install
from django_apcore.effects.run import Governed, governed

__all__ = [
    "Difference",
    "FieldDifference",
    "Governed",
    "HeldResultError",
    "OutsideEffectError",
    "TransactionEndedError",
    "UngovernedWriteError",
    "UnholdableMessageError",
    "compare_changes",
    "governed",
    "install",
    "is_governed",
    "keep_books",
    "send_again",
]
