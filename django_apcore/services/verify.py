"""Verify: prove that nobody touched the audit trail, or name the first entry that does not hold."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from django.db.models import QuerySet

from django_apcore.models import AuditChain, AuditEntry
from django_apcore.services._database import alias
from django_apcore.services.audit import GENESIS, content_hash

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
    """What `verify` found: how many entries were read, and the first broken one of each broken chain."""

    ok: bool
    entries: int
    broken: tuple[BrokenEntry, ...] = ()


def verify(partition: int | None = None) -> VerificationReport:
    """Check every hash and every link of one chain, or of all.

    A chain is consistent while others append to it: its head is read first, and what is younger is left for next time.
    """
    chains = [_Chain(number) for number in _partitions(partition)]
    broken = tuple(found for chain in chains if (found := chain.first_broken()) is not None)
    return VerificationReport(ok=not broken, entries=sum(chain.read for chain in chains), broken=broken)


def _partitions(partition: int | None) -> list[int]:
    if partition is not None:
        return [partition]
    with_head = AuditChain.objects.using(alias()).values_list("partition", flat=True)
    with_entries = AuditEntry.objects.using(alias()).order_by().values_list("partition", flat=True).distinct()
    return sorted({*with_head, *with_entries})


class _Chain:
    """One walk along one chain."""

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.read = 0
        self._head = AuditChain.objects.using(alias()).filter(partition=partition).first()

    def first_broken(self) -> BrokenEntry | None:
        """Walk from the first entry to the head; None if everything holds."""
        last: AuditEntry | None = None
        for entry in self._walk():
            self.read += 1
            found = self._check(entry, last)
            if found is not None:
                return found
            last = entry
        return self._check_end(last)

    def _walk(self) -> Iterator[AuditEntry]:
        """The entries up to the head that was read; what is younger than that is left for the next time."""
        entries = self._entries().order_by("sequence")
        if self._head is not None:
            entries = entries.filter(sequence__lte=self._head.sequence)
        return entries.iterator(chunk_size=2000)

    def _entries(self) -> QuerySet[AuditEntry]:
        return AuditEntry.objects.using(alias()).filter(partition=self.partition)

    def _check(self, entry: AuditEntry, last: AuditEntry | None) -> BrokenEntry | None:
        expected = last.sequence + 1 if last else 1
        if entry.sequence != expected:
            return self._gone(expected)
        if content_hash(entry) != entry.hash:
            return self._explain(entry, last)
        if entry.previous_hash != (last.hash if last else GENESIS):
            return self._edited(last) if last else self._edited(entry)
        return None

    def _explain(self, entry: AuditEntry, last: AuditEntry | None) -> BrokenEntry:
        """Say what happened to the first entry whose hash is wrong: it may only stand in the wrong place."""
        origin = self._origin(entry)
        if origin is None:
            rightful = self._rightful(entry.sequence)
            return self._inserted(entry) if rightful is not None else self._edited(entry)
        if origin < entry.sequence and last is not None:
            return self._inserted(last)
        if not self._entries().filter(hash=entry.previous_hash).exists():
            return self._gone(entry.sequence)
        return self._broken(entry, "reordered", f"it was written as number {origin}")

    def _origin(self, entry: AuditEntry) -> int | None:
        """The number under which an entry was written, if it was only moved."""
        highest = self._entries().order_by("-sequence").values_list("sequence", flat=True).first() or 0
        top = max(highest, self._head.sequence if self._head else 0)
        return next((number for number in range(1, top + 1) if content_hash(entry, number) == entry.hash), None)

    def _rightful(self, sequence: int) -> AuditEntry | None:
        """The entry that was written under this number, if it now stands under a later one."""
        later = self._entries().filter(sequence__gt=sequence).order_by("sequence")
        return next((each for each in later.iterator() if content_hash(each, sequence) == each.hash), None)

    def _check_end(self, last: AuditEntry | None) -> BrokenEntry | None:
        if self._head is None:
            return self._broken(last, "deleted", "the head of this chain is gone") if last else None
        reached = last.sequence if last else 0
        if reached < self._head.sequence:
            message = f"The chain ends at {reached}, and its head says {self._head.sequence}."
            return BrokenEntry(self.partition, reached + 1, None, "truncated", message)
        if last is not None and last.hash != self._head.hash:
            return self._edited(last)
        return self._check_newcomers(self._head)

    def _check_newcomers(self, head: AuditChain) -> BrokenEntry | None:
        """Entries beyond the head came together with a later head, or nobody announced them."""
        newest = self._entries().filter(sequence__gt=head.sequence).order_by("-sequence").first()
        if newest is None:
            return None
        now = AuditChain.objects.using(alias()).get(partition=self.partition)
        if newest.sequence <= now.sequence:
            return None
        unannounced = self._entries().filter(sequence__gt=now.sequence).order_by("sequence").first()
        return self._inserted(unannounced or newest)

    def _gone(self, sequence: int) -> BrokenEntry:
        return BrokenEntry(self.partition, sequence, None, "deleted", f"Entry {sequence} is missing.")

    def _edited(self, entry: AuditEntry) -> BrokenEntry:
        return self._broken(entry, "edited", "its content is not what was written")

    def _inserted(self, entry: AuditEntry) -> BrokenEntry:
        return self._broken(entry, "inserted", "it was not written by the audit trail")

    def _broken(self, entry: AuditEntry, reason: BreakReason, what: str) -> BrokenEntry:
        message = f"Entry {entry.sequence} ({entry.kind}, {entry.subject}): {what}."
        return BrokenEntry(self.partition, entry.sequence, entry.pk, reason, message)
