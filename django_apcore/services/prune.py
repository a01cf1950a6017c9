"""Prune: delete the oldest segments of the audit trail, once they are sealed, archived and old enough."""

from datetime import datetime, timedelta
from pathlib import Path

from django.db.models import QuerySet
from django.utils import timezone

from django_apcore.models import AuditChain, AuditEntry
from django_apcore.services._database import alias, atomic
from django_apcore.services._trail import PRUNED, Segment, chain_subject
from django_apcore.services.archive import require_archive
from django_apcore.services.audit import Event, append_to
from django_apcore.services.seal import SegmentState, segments


def prune(directory: Path, *, older_than: timedelta) -> list[Segment]:
    """Delete the segments all of whose entries are older than that, and return them.

    The oldest segment of a chain goes first; what is not archived, or is too young, ends the pruning of its chain. The
    archive has to lie in `directory`, unchanged. The chain records the pruning in the same transaction, and its
    verification continues from the seal. Raises ArchiveError.
    """
    until = timezone.now() - older_than
    pruned: list[Segment] = []
    stopped: set[int] = set()
    for state in list(segments()):
        partition = state.segment.partition
        if state.pruned_at is not None or partition in stopped:
            continue
        if state.archived_at is None or not _is_older(state.segment, until):
            stopped.add(partition)
            continue
        require_archive(state, directory)
        if _prune(state, until):
            pruned.append(state.segment)
    return pruned


def _is_older(segment: Segment, until: datetime) -> bool:
    return not _entries(segment).filter(at__gt=until).exists()


def _prune(state: SegmentState, until: datetime) -> bool:
    segment = state.segment
    with atomic():
        AuditChain.objects.using(alias()).select_for_update().get(partition=segment.partition)
        entries = _entries(segment)
        if not entries.exists():
            return False  # somebody else was faster
        known = {**segment.to_data(), "until": until.isoformat(), "file": state.archive, "sha256": state.sha256}
        append_to(segment.partition, Event(PRUNED, chain_subject(segment.partition), data=known))
        entries.delete()
    return True


def _entries(segment: Segment) -> QuerySet[AuditEntry]:
    places = (segment.first_sequence, segment.last_sequence)
    return AuditEntry.objects.using(alias()).filter(partition=segment.partition, sequence__range=places)
