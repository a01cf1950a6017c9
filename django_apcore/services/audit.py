"""The audit trail: append entries to hash chains, and prove that nobody touched them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.contrib.auth.models import User

from apcore.context import Identity
from django_apcore.models import AuditEntry

PARTITIONS = 16

BreakReason = Literal["edited", "deleted", "reordered", "truncated", "inserted"]


@dataclass(frozen=True, slots=True)
class BrokenEntry:
    """Where a chain does not hold. `entry_id` is None where the entry itself is gone."""

    partition: int
    sequence: int
    entry_id: int | None
    reason: BreakReason
    message: str


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """What `verify` found: how many entries were read, and the first broken one of each broken partition."""

    ok: bool
    entries: int
    broken: tuple[BrokenEntry, ...] = ()


def append(
    kind: str,
    *,
    subject: str,
    actor: User | Identity | None = None,
    module_id: str | None = None,
    trace_id: str | None = None,
    data: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Append one entry to the chain of its subject, in the caller's transaction (one is opened if there is none).

    `data` must be JSON without secrets. Without an actor the entry is the system's own.
    """
    raise NotImplementedError


def verify(partition: int | None = None) -> VerificationReport:
    """Check every hash and link of one partition, or of all."""
    raise NotImplementedError
