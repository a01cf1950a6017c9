"""Keep records as long as the settings say: details of finished requests, messages that left, entries of the trail."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django_apcore.conf import get_settings
from django_apcore.services.archive import archive
from django_apcore.services.prune import prune
from django_apcore.services.remove_delivered import remove_delivered
from django_apcore.services.remove_details import remove_details
from django_apcore.services.seal import seal


@dataclass(frozen=True, slots=True)
class Kept:
    """What was done: requests without details, messages deleted, archives written, segments deleted."""

    details_removed: int = 0
    messages_removed: int = 0
    archived: int = 0
    pruned: int = 0


def keep_records() -> Kept:
    """Remove details of old requests and old messages; seal, archive and prune the audit trail.

    Does what is configured, and no more. Raises ArchiveError, and OSError for a directory that cannot be written.
    """
    settings = get_settings()
    removed = messages = archived = pruned = 0
    if settings.approval_retention_days is not None:
        removed = remove_details(older_than=timedelta(days=settings.approval_retention_days))
    if settings.outbox_retention_days is not None:
        messages = remove_delivered(older_than=timedelta(days=settings.outbox_retention_days))
    if settings.audit_archive_dir is not None:
        directory = Path(settings.audit_archive_dir)
        seal(older_than=timedelta(days=settings.audit_segment_days))
        archived = len(archive(directory))
        if settings.audit_retention_days is not None:
            pruned = len(prune(directory, older_than=timedelta(days=settings.audit_retention_days)))
    return Kept(removed, messages, archived, pruned)
