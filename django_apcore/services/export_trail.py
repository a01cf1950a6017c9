"""Export: the audit trail as JSON Lines, each of which can be verified with the chain that it belongs to."""

from collections.abc import Iterator
from datetime import datetime

from django_apcore.models import AuditChain, AuditEntry
from django_apcore.services._database import alias
from django_apcore.services._trail import line_of, walk


def export_trail(
    *, since: datetime | None = None, until: datetime | None = None, partition: int | None = None
) -> Iterator[str]:
    """The entries of one chain, or of all, one after the other, as canonical JSON, an entry to a line.

    A chain is exported from the first entry that is not older than `since` to the last one that is older than `until`,
    without gaps. Entries that are appended meanwhile are left for the next time.
    """
    heads = AuditChain.objects.using(alias()).order_by("pk").values_list("partition", "sequence")
    for number, newest in heads if partition is None else heads.filter(pk=partition):
        first, last = _bounds(number, since, until)
        if first is not None and last is not None:
            yield from (line_of(entry) + "\n" for entry in walk(number, first, min(last, newest)))


def _bounds(partition: int, since: datetime | None, until: datetime | None) -> tuple[int | None, int | None]:
    places = AuditEntry.objects.using(alias()).filter(partition=partition).values_list("sequence", flat=True)
    after = places if since is None else places.filter(at__gte=since)
    before = places if until is None else places.filter(at__lt=until)
    return after.order_by("sequence").first(), before.order_by("-sequence").first()
