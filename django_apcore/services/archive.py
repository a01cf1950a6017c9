"""Archive: write sealed segments of the audit trail into files, and record in the chain which bytes those are."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from django_apcore.exceptions import ArchiveError
from django_apcore.models import AuditChain, AuditEntry
from django_apcore.services._database import alias, atomic
from django_apcore.services._trail import ARCHIVED, Segment, chain_subject, end_in, line_of, told, walk
from django_apcore.services.audit import Event, append_to
from django_apcore.services.seal import SegmentState, segments
from django_apcore.services.verify_file import FileReport, verify_files


def archive(directory: Path) -> list[Path]:
    """Write each sealed segment that has no archive yet into a file of its own, and return the files.

    A file ends with the seal of its segment. It is read again and verified before the chain records it. Several
    processes may do so at once: who comes second finds the segment archived. Raises ArchiveError where a segment does
    not hold, or where another file has the name of its archive (nothing is recorded then), and OSError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    files = [_archive(state.segment, directory) for state in list(segments()) if state.archived_at is None]
    return [file for file in files if file is not None]


def require_archive(state: SegmentState, directory: Path) -> None:
    """Raise ArchiveError unless the archive of a segment lies in a directory as it was recorded."""
    file = directory / state.archive
    if not state.archive:
        raise ArchiveError(f"Segment {_name(state.segment)} was not archived.")
    if not file.is_file():
        raise ArchiveError(f"{file} is not there. Bring the archive back before its segment is deleted.")
    if _sha256(file) != state.sha256:
        raise ArchiveError(f"{file} is not the file that was archived: its SHA-256 differs from the recorded one.")


def _archive(segment: Segment, directory: Path) -> Path | None:
    """The file; None if somebody else was faster."""
    file = directory / segment.file_name
    with _draft(segment, file) as draft:
        if _is_archived(segment):
            return None  # before or while it was read: its entries may be gone by now
        _require_whole(segment, verify_files([draft]))
        sha256 = _sha256(draft)
        if file.exists() and _sha256(file) != sha256:
            raise ArchiveError(f"{file} is the archive of another trail. Choose a directory for this one alone.")
        draft.replace(file)
    _sync(directory)
    with atomic():
        AuditChain.objects.using(alias()).select_for_update().get(partition=segment.partition)
        if _is_archived(segment):
            return None
        known = {**segment.to_data(), "file": file.name, "sha256": sha256}
        append_to(segment.partition, Event(ARCHIVED, chain_subject(segment.partition), data=known))
    return file


@contextmanager
def _draft(segment: Segment, file: Path) -> Iterator[Path]:
    """A segment in a file that is this process's own, beside where it shall be; gone afterwards."""
    draft = file.with_name(f"{file.stem}-{uuid4().hex}.part")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as out:
            out.writelines(line_of(entry) + "\n" for entry in _with_seal(segment))
            out.flush()
            os.fsync(out.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _is_archived(segment: Segment) -> bool:
    return segment.last_sequence in map(end_in, told(segment.partition, ARCHIVED))


def _sync(directory: Path) -> None:
    """Have the disk know the name of a new file before the chain does."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _with_seal(segment: Segment) -> Iterator[AuditEntry]:
    return walk(segment.partition, segment.first_sequence, segment.last_sequence + 1)


def _require_whole(segment: Segment, report: FileReport) -> None:
    if report.broken:
        raise ArchiveError(f"Segment {_name(segment)} does not hold: {report.broken[0].message}")
    if len(report.chains) != 1:
        raise ArchiveError(f"Segment {_name(segment)} is gone.")
    [chain] = report.chains
    whole = (segment.first_sequence, segment.last_sequence + 1, segment.previous_hash, True)
    if (chain.first_sequence, chain.last_sequence, chain.previous_hash, chain.is_sealed) != whole:
        raise ArchiveError(f"Segment {_name(segment)} is not whole.")


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _name(segment: Segment) -> str:
    return f"{segment.partition}/{segment.first_sequence}–{segment.last_sequence}"
