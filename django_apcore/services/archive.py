"""Archive: write sealed segments of the audit trail into files, and record in the chain which bytes those are."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from django_apcore.exceptions import ArchiveError
from django_apcore.models import AuditEntry
from django_apcore.services._database import atomic
from django_apcore.services._trail import ARCHIVED, Segment, chain_subject, line_of, walk
from django_apcore.services.audit import Event, append_to
from django_apcore.services.seal import SegmentState, segments
from django_apcore.services.verify_file import FileReport, verify_files


def archive(directory: Path) -> list[Path]:
    """Write each sealed segment that has no archive yet into a file of its own, and return the files.

    A file ends with the seal of its segment. It is read again and verified before the chain records it. Raises
    ArchiveError where a segment does not hold (nothing is recorded then), and OSError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    return [_archive(state.segment, directory) for state in list(segments()) if state.archived_at is None]


def require_archive(state: SegmentState, directory: Path) -> None:
    """Raise ArchiveError unless the archive of a segment lies in a directory as it was recorded."""
    file = directory / state.archive
    if not state.archive:
        raise ArchiveError(f"Segment {_name(state.segment)} was not archived.")
    if not file.is_file():
        raise ArchiveError(f"{file} is not there. Bring the archive back before its segment is deleted.")
    if _sha256(file) != state.sha256:
        raise ArchiveError(f"{file} is not the file that was archived: its SHA-256 differs from the recorded one.")


def _archive(segment: Segment, directory: Path) -> Path:
    file = directory / segment.file_name
    draft = file.with_suffix(".part")
    with draft.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(line_of(entry) + "\n" for entry in _with_seal(segment))
        out.flush()
        os.fsync(out.fileno())
    _require_whole(segment, verify_files([draft]))
    draft.replace(file)
    known = {**segment.to_data(), "file": file.name, "sha256": _sha256(file)}
    with atomic():
        append_to(segment.partition, Event(ARCHIVED, chain_subject(segment.partition), data=known))
    return file


def _with_seal(segment: Segment) -> Iterator[AuditEntry]:
    return walk(segment.partition, segment.first_sequence, segment.last_sequence + 1)


def _require_whole(segment: Segment, report: FileReport) -> None:
    if report.broken:
        raise ArchiveError(f"Segment {_name(segment)} does not hold: {report.broken[0].message}")
    [chain] = report.chains
    whole = (segment.first_sequence, segment.last_sequence + 1, segment.previous_hash, True)
    if (chain.first_sequence, chain.last_sequence, chain.previous_hash, chain.is_sealed) != whole:
        raise ArchiveError(f"Segment {_name(segment)} is not whole.")


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _name(segment: Segment) -> str:
    return f"{segment.partition}/{segment.first_sequence}–{segment.last_sequence}"
