"""`audit`: read the trail, prove that nobody touched it, and keep what is old in files."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from django_apcore import services
from django_apcore.management.subcommands.base import (
    Answer,
    Options,
    Subcommand,
    days,
    number,
    table,
)
from django_apcore.models import AuditChain, AuditEntry
from django_apcore.services.audit import PARTITIONS

_GROUP = "The audit trail."


def verify(options: Options) -> Answer:
    """Check every entry, of the database or of exported files. The exit status is 1 if one does not hold."""
    if options["file"]:
        return _verify_files(options["file"])
    report = services.verify(options["partition"])
    if options["partition"] is None:
        services.record_verification(report)
    lines = [f"{each.reason}: chain {each.partition}: {each.message}" for each in report.broken]
    if report.pruned:
        lines.append(f"{_entries(report.pruned)} are in archives, and a seal vouches for them.")
    lines.append(f"{_entries(report.entries)} read: {'the trail holds' if report.ok else 'the trail was touched'}.")
    return Answer(asdict(report), lines, status=0 if report.ok else 1)


def export(options: Options) -> Answer:
    """Write entries as JSON Lines, to a file or to standard output, while they are read."""
    bounds = {name: _moment(options[name]) for name in ("since", "until")}
    lines = services.export_trail(**bounds, partition=options["partition"])
    if options["output"] is None:
        return Answer(None, [], stream=lines)
    with _files(), Path(options["output"]).open("w", encoding="utf-8", newline="\n") as out:
        count = sum(out.write(line) > 0 for line in lines)
    return Answer({"entries": count, "file": options["output"]}, [f"{_entries(count)} written to {options['output']}."])


def seal(options: Options) -> Answer:
    """Close the open part of each chain, so that it can be archived."""
    sealed = services.seal(options["partition"])
    rows = [(each.partition, each.first_sequence, each.last_sequence, each.last_hash) for each in sealed]
    return Answer([asdict(each) for each in sealed], table(rows, "CHAIN", "FIRST", "LAST", "LAST HASH"))


def segments(options: Options) -> Answer:
    """The sealed segments, and what became of each."""
    states = list(services.segments(options["partition"]))
    rows = [
        (each.segment.partition, each.segment.first_sequence, each.segment.last_sequence, _state(each), each.archive)
        for each in states
    ]
    return Answer([asdict(each) for each in states], table(rows, "CHAIN", "FIRST", "LAST", "STATE", "ARCHIVE"))


def archive(options: Options) -> Answer:
    """Write each sealed segment that has no archive yet into a file, and record its SHA-256 in the chain."""
    with _files():
        files = [str(file) for file in services.archive(Path(options["directory"]))]
    return Answer({"files": files}, files or ["(none)"])


def prune(options: Options) -> Answer:
    """Delete old segments that are sealed, and whose archives are in the directory."""
    with _files():
        pruned = services.prune(Path(options["directory"]), older_than=options["older_than"])
    count = sum(each.count for each in pruned)
    return Answer({"segments": [asdict(each) for each in pruned]}, [f"{_entries(count)} deleted from the database."])


def list_entries(options: Options) -> Answer:
    """The latest entries, newest first."""
    entries = AuditEntry.objects.all()
    if options["subject"]:
        entries = entries.filter(subject=options["subject"])
    rows = services.name_actors(entries[: options["limit"]])
    lines = table(
        [(f"{row.at:%Y-%m-%d %H:%M:%S}", row.kind, row.actor, row.subject) for row in rows],
        "AT",
        "KIND",
        "ACTOR",
        "SUBJECT",
    )
    return Answer([_entry(row) for row in rows], lines)


def heads(options: Options) -> Answer:
    """The last hash of every chain that has entries, to be kept somewhere else."""
    begun = AuditChain.objects.filter(sequence__gt=0).order_by("pk")
    data = {str(row.partition): {"sequence": row.sequence, "hash": row.hash} for row in begun}
    return Answer(
        data, table([(name, each["sequence"], each["hash"]) for name, each in data.items()], "CHAIN", "#", "HASH")
    )


def _entry(row: AuditEntry) -> dict[str, Any]:
    return {
        "partition": row.partition,
        "sequence": row.sequence,
        "at": row.at.isoformat(),
        "kind": row.kind,
        "actor_type": row.actor_type,
        "actor_id": row.actor_id,
        "module_id": row.module_id,
        "trace_id": row.trace_id,
        "subject": row.subject,
        "data": row.data,
        "hash": row.hash,
    }


def _verify_files(files: list[str]) -> Answer:
    with _files():
        report = services.verify_files(map(Path, files))
    lines = [f"{each.reason}: {each.file}, line {each.line}: {each.message}" for each in report.broken]
    for chain in report.chains:
        end = "sealed" if chain.is_sealed else "open"
        lines.append(
            f"chain {chain.partition}: {chain.first_sequence} to {chain.last_sequence}, {end}, {chain.last_hash}"
        )
    held = "the lines hold" if report.ok else "the lines were touched"
    return Answer(asdict(report), [*lines, f"{_entries(report.entries)} read: {held}."], status=0 if report.ok else 1)


@contextmanager
def _files() -> Iterator[None]:
    """Say which file cannot be read or written instead of showing where that was noticed."""
    try:
        yield
    except OSError as error:
        raise CommandError(str(error)) from None


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"


def _state(state: services.SegmentState) -> str:
    if state.pruned_at:
        return "pruned"
    return "archived" if state.archived_at else "sealed"


def _moment(text: str | None) -> datetime | None:
    """A day or an instant, in the project's time zone where none is given. Raises CommandError."""
    if text is None:
        return None
    try:
        day = parse_date(text)
        at = datetime.combine(day, time()) if day else parse_datetime(text)
        moment = None if at is None else (timezone.make_aware(at) if timezone.is_naive(at) else at).astimezone(UTC)
    except (ValueError, OverflowError):
        moment = None
    if moment is None:
        raise CommandError(f"{text!r} is no date such as 2031-05-01, nor an instant such as 2031-05-01T12:00:00Z.")
    return moment


def _partition(text: str) -> int:
    found = number(text)
    if found not in range(PARTITIONS):
        raise ArgumentTypeError(f"there is no chain {text}; they are numbered from 0 to {PARTITIONS - 1}")
    return found


def _partition_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--partition", type=_partition, help="only this chain")


def _verify_arguments(parser: ArgumentParser) -> None:
    _partition_argument(parser)
    parser.add_argument("--file", nargs="+", metavar="FILE", help="exported files instead of the database, in order")


def _export_arguments(parser: ArgumentParser) -> None:
    _partition_argument(parser)
    parser.add_argument("--since", metavar="DATE", help="from this day or instant on")
    parser.add_argument("--until", metavar="DATE", help="before this day or instant")
    parser.add_argument("--output", metavar="FILE", help="instead of standard output")


def _directory_argument(parser: ArgumentParser) -> None:
    parser.add_argument("directory", help="where the archives are")


def _prune_arguments(parser: ArgumentParser) -> None:
    _directory_argument(parser)
    parser.add_argument("--older-than", type=days, required=True, metavar="DAYS", help="all entries of a segment")


def _list_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--subject", help="for example approval:5f0c…")
    parser.add_argument("--limit", type=number, default=50)


SUBCOMMANDS = (
    Subcommand("audit verify", "Prove that nobody touched the trail.", verify, _verify_arguments, _GROUP),
    Subcommand("audit list", "List entries.", list_entries, _list_arguments, _GROUP),
    Subcommand("audit export", "Write entries as JSON Lines.", export, _export_arguments, _GROUP),
    Subcommand("audit seal", "Close the open part of each chain.", seal, _partition_argument, _GROUP),
    Subcommand("audit segments", "List sealed segments.", segments, _partition_argument, _GROUP),
    Subcommand("audit archive", "Write sealed segments into files.", archive, _directory_argument, _GROUP),
    Subcommand("audit prune", "Delete archived segments.", prune, _prune_arguments, _GROUP),
    Subcommand("audit heads", "Print the last hash of every chain.", heads, group_help=_GROUP),
)
