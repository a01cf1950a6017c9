"""The form in which an audit entry is hashed and exported, and the segments that a chain consists of."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, Self

from django.utils import timezone

from apcore.schema import canonical_json
from apcore.schema.canonical import text_hash
from django_apcore.models import AuditEntry
from django_apcore.services._database import alias

GENESIS = "0" * 64
SEALED, ARCHIVED, PRUNED = "audit.sealed", "audit.archived", "audit.pruned"
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Segment:
    """A closed part of a chain: what its seal, the entry behind it, says of it."""

    partition: int
    first_sequence: int
    last_sequence: int
    count: int
    first_hash: str
    last_hash: str
    previous_hash: str

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Read what an entry about a segment holds. Raises ValueError for any other data."""
        if not isinstance(data, Mapping) or any(type(data.get(each.name)) is not each.type for each in fields(cls)):
            raise ValueError("This does not describe a segment")
        return cls(**{each.name: data[each.name] for each in fields(cls)})

    def to_data(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def file_name(self) -> str:
        """The name of its archive; in the order of names, archives are in the order of their entries."""
        return f"audit-{self.partition:02}-{self.first_sequence:012}-{self.last_sequence:012}.jsonl"


def content_of(entry: AuditEntry) -> dict[str, Any]:
    """Everything that an entry says, its place, and the hash of the entry before it."""
    return {
        "partition": entry.partition,
        "sequence": entry.sequence,
        "at": _timestamp(entry.at),
        "kind": entry.kind,
        "actor_id": entry.actor_id,
        "actor_type": entry.actor_type,
        "module_id": entry.module_id,
        "trace_id": entry.trace_id,
        "subject": entry.subject,
        "data": entry.data,
        "previous_hash": entry.previous_hash,
    }


def hash_of(content: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of a content."""
    return text_hash(canonical_json(content))


def content_hash(entry: AuditEntry, sequence: int | None = None) -> str:
    """The hash that an entry must have, or would have as number `sequence` of its chain."""
    content = content_of(entry)
    return hash_of(content if sequence is None else {**content, "sequence": sequence})


def line_of(entry: AuditEntry) -> str:
    """An entry as one line of an export: its content and its hash, as canonical JSON."""
    return canonical_json({**content_of(entry), "hash": entry.hash})


def walk(partition: int, first: int = 1, last: int | None = None) -> Iterator[AuditEntry]:
    """The entries of a chain in order, page by page: however long the chain, one page is in memory."""
    entries = AuditEntry.objects.using(alias()).filter(partition=partition).order_by("sequence")
    if last is not None:
        entries = entries.filter(sequence__lte=last)
    while page := list(entries.filter(sequence__gte=first)[:_PAGE]):
        yield from page
        first = page[-1].sequence + 1


def told(partition: int, kind: str) -> list[AuditEntry]:
    """The entries of one of the three kinds about segments that a chain still holds, oldest first."""
    entries = AuditEntry.objects.using(alias()).filter(partition=partition, kind=kind, subject=chain_subject(partition))
    return list(entries.order_by("sequence"))


def end_in(entry: AuditEntry) -> int:
    """The last number of the segment that an entry tells of; 0 if it was made to say what it cannot know."""
    end = entry.data.get("last_sequence") if isinstance(entry.data, dict) else None
    return end if type(end) is int and 0 < end < entry.sequence else 0


def chain_subject(partition: int) -> str:
    """The subject of entries about a chain itself."""
    return f"audit:{partition}"


def _timestamp(at: datetime) -> str:
    aware = at if timezone.is_naive(at) else at.astimezone(UTC)
    return aware.isoformat(timespec="microseconds")
