"""The audit trail: append entries to hash chains, and prove that nobody touched them."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import OperationalError, connections
from django.db.models import F
from django.utils import timezone

from apcore.context import Identity
from django_apcore.context import type_of
from django_apcore.exceptions import AuditHeadMissing
from django_apcore.models import AuditChain, AuditEntry
from django_apcore.models.fields import storable
from django_apcore.services._database import alias, atomic, sqlstate_of
from django_apcore.services._trail import GENESIS, content_hash

PARTITIONS = 16
_SERIALIZATION_FAILURE = "40001"


@dataclass(frozen=True, slots=True)
class Event:
    """Something to be appended. `data` must be JSON without secrets; without an actor it is the system's own doing."""

    kind: str
    subject: str
    actor: User | Identity | None = None
    module_id: str | None = None
    trace_id: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


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
    return _append(Event(kind, subject, actor, module_id, trace_id, data or {}))


def append_all(events: Iterable[Event]) -> list[AuditEntry]:
    """Append several entries in one transaction, in their order."""
    with atomic():
        return [_append(event) for event in events]


def make_heads(using: str) -> None:
    """Begin the chains that are not there yet, so that no two writers have to do it at the same time.

    A chain that has entries and no head was touched: it stays as it is, for `verify` to name.
    """
    heads, entries = AuditChain.objects.using(using), AuditEntry.objects.using(using)
    missing = sorted({*range(PARTITIONS)} - {*heads.values_list("pk", flat=True)})
    new = [number for number in missing if not entries.filter(partition=number).exists()]
    heads.bulk_create([AuditChain(partition=number, hash=GENESIS) for number in new], ignore_conflicts=True)


def partition_of(subject: str) -> int:
    """The chain that takes entries about this subject, unless somebody else is just writing to it."""
    return zlib.crc32(subject.encode("utf-8", "surrogatepass")) % PARTITIONS


def append_to(partition: int, event: Event) -> AuditEntry:
    """Append to one chain and no other, in the caller's transaction. For entries about the chain itself."""
    with atomic():
        return _extend(_locked_head(partition), event)


def _append(event: Event) -> AuditEntry:
    """Append to the subject's chain, or to another one where PostgreSQL cannot serialise.

    Under REPEATABLE READ a chain that another process has extended since our snapshot cannot be extended by us. An
    executing module must not have to run again for that, so its entry goes to a chain that nobody touched.
    """
    first = partition_of(event.subject)
    for partition in _from(first):
        try:
            with _undone_alone():
                return _extend(_free_head(partition), event)
        except OperationalError as error:
            if sqlstate_of(error) != _SERIALIZATION_FAILURE:
                raise
            failure = error
    raise failure


def _undone_alone() -> AbstractContextManager[object]:
    """A transaction, or in the caller's a savepoint where a chain may be refused; elsewhere that only costs time."""
    connection = connections[alias()]
    return atomic() if connection.vendor == "postgresql" or not connection.in_atomic_block else nullcontext()


def _from(first: int) -> Iterator[int]:
    return ((first + step) % PARTITIONS for step in range(PARTITIONS))


def _extend(head: AuditChain, event: Event) -> AuditEntry:
    actor_type, actor_id = _name(event.actor)
    entry = AuditEntry(
        partition=head.partition,
        sequence=head.sequence + 1,
        at=timezone.now(),
        kind=event.kind,
        actor_id=storable(actor_id)[:255],
        actor_type=storable(actor_type)[:32],
        module_id=event.module_id or "",
        trace_id=event.trace_id or "",
        subject=event.subject,
        data=storable(dict(event.data)),
        previous_hash=head.hash,
    )
    entry.hash = content_hash(entry)
    entry.save(using=alias(), force_insert=True)
    AuditChain.objects.using(alias()).filter(pk=head.pk).update(sequence=entry.sequence, hash=entry.hash)
    return entry


def _free_head(first: int) -> AuditChain:
    """Lock this chain, or the next one that nobody holds: a writer waits only where all of them are held.

    A transaction that has a chain already finds at least that one, so two writers cannot wait for each other.
    """
    if not connections[alias()].features.has_select_for_update_skip_locked:
        return _locked_head(first)
    heads = AuditChain.objects.using(alias())
    free = heads.select_for_update(skip_locked=True)
    found = list(free.filter(pk=first))
    if not found and heads.filter(pk=first).exists():
        found = list(free.order_by((F("partition") + PARTITIONS - first) % PARTITIONS)[:1])
    return found[0] if found else _locked_head(first)


def _locked_head(partition: int) -> AuditChain:
    """Lock this chain, whoever holds it.

    `migrate` has made the heads. Where they are gone all the same (tests empty tables), the first writer makes all of
    them at once and in order: who comes second waits for that, before it holds any.
    """
    heads = AuditChain.objects.using(alias()).select_for_update()
    found = list(heads.filter(pk=partition))
    if not found:
        make_heads(alias())
        found = list(heads.filter(pk=partition))
    if not found:
        raise AuditHeadMissing(
            f"Chain {partition} of the audit trail has entries, but its head is gone: nothing is appended to it.",
            suggestion="Run audit verify, and find out who deleted the row.",
        )
    return found[0]


def _name(actor: User | Identity | None) -> tuple[str, str]:
    if actor is None:
        return "system", ""
    if isinstance(actor, Identity):
        return actor.type, actor.id
    return type_of(actor), str(actor.pk)
