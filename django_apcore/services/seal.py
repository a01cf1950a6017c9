"""Seal: close the open part of a chain with an entry that says how much it holds and by which hashes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from django_apcore.exceptions import ArchiveError
from django_apcore.models import AuditChain, AuditEntry
from django_apcore.services._database import alias, atomic
from django_apcore.services._trail import ARCHIVED, GENESIS, PRUNED, SEALED, Segment, chain_subject, end_in, told
from django_apcore.services.audit import Event, append_to


@dataclass(frozen=True, slots=True)
class SegmentState:
    """A sealed segment, and what became of it. `archive` is the name of its file, `sha256` that of its bytes."""

    segment: Segment
    sealed_at: datetime
    archive: str = ""
    sha256: str = ""
    archived_at: datetime | None = None
    pruned_at: datetime | None = None


def seal(partition: int | None = None, *, older_than: timedelta = timedelta(0)) -> list[Segment]:
    """Seal the open part of one chain, or of all, and return what was sealed.

    A chain whose open part is empty, or began less than `older_than` ago, is left alone. The seal is the first entry of
    the next segment. A gap is not sealed: `verify` names it.
    """
    numbers = [partition] if partition is not None else _chains()
    until = timezone.now() - older_than
    return [sealed for number in numbers if (sealed := _seal(number, until)) is not None]


def segments(partition: int | None = None) -> Iterator[SegmentState]:
    """The segments whose seals the trail still holds, chain by chain, oldest first.

    Raises ArchiveError for a forged seal.
    """
    for number in [partition] if partition is not None else _chains():
        archived = {end_in(entry): entry for entry in told(number, ARCHIVED)}
        pruned = {end_in(entry): entry.at for entry in told(number, PRUNED)}
        for entry in told(number, SEALED):
            segment = _sealed_by(entry)
            kept = archived.get(segment.last_sequence)
            yield SegmentState(
                segment,
                sealed_at=entry.at,
                archive=str(kept.data.get("file", "")) if kept else "",
                sha256=str(kept.data.get("sha256", "")) if kept else "",
                archived_at=kept.at if kept else None,
                pruned_at=pruned.get(segment.last_sequence),
            )


def _sealed_by(entry: AuditEntry) -> Segment:
    try:
        return Segment.from_data(entry.data)
    except ValueError as error:
        place = f"Entry {entry.sequence} of chain {entry.partition}"
        raise ArchiveError(f"{place} is no seal that the trail has written: run audit verify.") from error


def _chains() -> list[int]:
    return list(AuditChain.objects.using(alias()).order_by("pk").values_list("pk", flat=True))


def _seal(partition: int, until: datetime) -> Segment | None:
    with atomic():
        head = AuditChain.objects.using(alias()).select_for_update().filter(partition=partition).first()
        segment = _open_part(head, until) if head else None
        if segment is not None:
            append_to(partition, Event(SEALED, chain_subject(partition), data=segment.to_data()))
    return segment


def _open_part(head: AuditChain, until: datetime) -> Segment | None:
    entries = AuditEntry.objects.using(alias()).filter(partition=head.partition)
    seals = told(head.partition, SEALED)
    start = seals[-1].sequence if seals else 1
    if head.sequence - start < (1 if seals else 0):
        return None  # nothing but the seal of the segment before
    ends = {entry.sequence: entry for entry in entries.filter(sequence__in=[start, head.sequence])}
    count = entries.filter(sequence__gte=start).count()
    is_whole = {start, head.sequence} == set(ends) and count == head.sequence - start + 1
    if not is_whole or ends[start].at > until:
        return None
    return Segment(
        partition=head.partition,
        first_sequence=start,
        last_sequence=head.sequence,
        count=count,
        first_hash=ends[start].hash,
        last_hash=head.hash,
        previous_hash=ends[start].previous_hash if seals else GENESIS,
    )
