"""Verify: prove that nobody touched the audit trail, or name the first entry that does not hold."""

from dataclasses import dataclass
from typing import Any, Literal

from django.db.models import QuerySet

from django_apcore.models import AuditChain, AuditEntry
from django_apcore.services._database import alias
from django_apcore.services._trail import ARCHIVED, GENESIS, PRUNED, SEALED, Segment, content_hash, end_in, told, walk
from django_apcore.services.verify_file import is_true_seal

BreakReason = Literal["edited", "deleted", "reordered", "truncated", "inserted", "seal_missing", "seal_forged"]


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
    """What `verify` found: how many entries were read, and the first broken one of each broken chain.

    `pruned` is the number of older entries that the seals vouch for; they are in the archives.
    """

    ok: bool
    entries: int
    broken: tuple[BrokenEntry, ...] = ()
    pruned: int = 0


def verify(partition: int | None = None) -> VerificationReport:
    """Check every hash and every link of one chain, or of all.

    A chain is consistent while others append to it: its head is read first, and what is younger is left for next time.
    Where segments were pruned, a chain begins with the seal of the last one. Memory does not grow with the trail.
    """
    chains = [_walked(number) for number in _partitions(partition)]
    broken = tuple(chain.broken for chain in chains if chain.broken is not None)
    return VerificationReport(
        ok=not broken,
        entries=sum(chain.read for chain in chains),
        broken=broken,
        pruned=sum(chain.pruned for chain in chains),
    )


def _walked(partition: int) -> "_Chain":
    """One chain, read to its end or to its first broken entry; from its new beginning if it was pruned meanwhile."""
    chain = _Chain(partition)
    while chain.broken is not None and chain.was_pruned_meanwhile():
        chain = _Chain(partition)
    return chain


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
        self.pruned = 0
        self._pruned_to = self._newest_pruning()
        self._head = AuditChain.objects.using(alias()).filter(partition=partition).first()
        self._segment_start = 1
        self._is_pruning_told = False
        self.broken = self._first_broken()

    def was_pruned_meanwhile(self) -> bool:
        return self._newest_pruning() != self._pruned_to

    def _newest_pruning(self) -> int:
        """The last number that a pruning took, by what the chain says; 0 if there was none."""
        return max(map(end_in, told(self.partition, PRUNED)), default=0)

    def _first_broken(self) -> BrokenEntry | None:
        """Walk from the first entry to the head that was read; what is younger is left for the next time."""
        last: AuditEntry | None = None
        for entry in walk(self.partition, last=self._head.sequence if self._head else None):
            self.read += 1
            found = self._check(entry, last) if last else self._check_first(entry)
            if found is not None:
                return found
            last = entry
            self._is_pruning_told |= entry.kind == PRUNED and end_in(entry) == self.pruned
        return self._check_pruning() or self._check_end(last)

    def _entries(self) -> QuerySet[AuditEntry]:
        return AuditEntry.objects.using(alias()).filter(partition=self.partition)

    def _check_first(self, entry: AuditEntry) -> BrokenEntry | None:
        """A chain begins with number 1, or with the seal of what was pruned."""
        is_written = content_hash(entry) == entry.hash
        if entry.sequence == 1:
            if not is_written:
                return self._explain(entry, None)
            return self._edited(entry) if entry.previous_hash != GENESIS else None
        if is_written and _seals(entry, None):
            self.pruned, self._segment_start = entry.sequence - 1, entry.sequence
            return None
        if entry.sequence == self._pruned_to + 1:
            return self._forged_seal(entry)
        if entry.sequence <= self._pruned_to:
            return self._inserted(entry)
        return self._gone(self._pruned_to + 1)

    def _check(self, entry: AuditEntry, last: AuditEntry) -> BrokenEntry | None:
        if entry.sequence != last.sequence + 1:
            return self._gone(last.sequence + 1)
        if content_hash(entry) != entry.hash:
            return self._explain(entry, last)
        if entry.previous_hash != last.hash:
            return self._edited(last)
        if entry.kind == SEALED:
            start, self._segment_start = self._segment_start, entry.sequence
            return None if _seals(entry, start) else self._forged_seal(entry)
        return None

    def _check_pruning(self) -> BrokenEntry | None:
        """Nothing may be gone of which the chain does not say that it was pruned."""
        if not self.pruned or self._is_pruning_told:
            return None
        message = f"Entries 1 to {self.pruned} are missing: they were sealed, but never pruned."
        return BrokenEntry(self.partition, 1, None, "deleted", message)

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
        top = self._pruned_to + self._entries().count() + 1
        return next((number for number in range(1, top + 1) if content_hash(entry, number) == entry.hash), None)

    def _rightful(self, sequence: int) -> AuditEntry | None:
        """The entry that was written under this number, if it now stands under a later one."""
        later = self._entries().filter(sequence__gt=sequence).order_by("sequence")
        return next(
            (each for each in later.iterator(chunk_size=2000) if content_hash(each, sequence) == each.hash), None
        )

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
        if self._is_seal(sequence):
            message = f"Entry {sequence} is missing, the seal of the entries before it."
            return BrokenEntry(self.partition, sequence, None, "seal_missing", message)
        return BrokenEntry(self.partition, sequence, None, "deleted", f"Entry {sequence} is missing.")

    def _is_seal(self, sequence: int) -> bool:
        """Whether other entries say that this one is, or was, a seal."""
        if sequence == 1:
            return False
        ended = [end_in(entry) for kind in (ARCHIVED, PRUNED) for entry in told(self.partition, kind)]
        begun = [_start_in(entry.data) for entry in told(self.partition, SEALED)]
        return sequence - 1 in ended or sequence in begun

    def _forged_seal(self, entry: AuditEntry) -> BrokenEntry:
        return self._broken(entry, "seal_forged", "it is not the seal of the entries before it")

    def _edited(self, entry: AuditEntry) -> BrokenEntry:
        if self._is_seal(entry.sequence):
            return self._forged_seal(entry)
        return self._broken(entry, "edited", "its content is not what was written")

    def _inserted(self, entry: AuditEntry) -> BrokenEntry:
        return self._broken(entry, "inserted", "it was not written by the audit trail")

    def _broken(self, entry: AuditEntry, reason: BreakReason, what: str) -> BrokenEntry:
        message = f"Entry {entry.sequence} ({entry.kind}, {entry.subject}): {what}."
        return BrokenEntry(self.partition, entry.sequence, entry.pk, reason, message)


def _seals(entry: AuditEntry, start: int | None) -> bool:
    """Whether an entry is the seal of the entries before it, which begin at `start`."""
    return entry.kind == SEALED and is_true_seal(entry.data, entry.sequence, entry.previous_hash, start)


def _start_in(seal: Any) -> int | None:
    try:
        return Segment.from_data(seal).first_sequence
    except ValueError:
        return None
