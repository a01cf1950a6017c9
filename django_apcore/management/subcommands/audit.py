"""`audit`: read the trail, and prove that nobody touched it."""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django_apcore import services
from django_apcore.management.subcommands.base import Answer, Options, Subcommand, table
from django_apcore.models import AuditChain, AuditEntry

_GROUP = "The audit trail."


def verify(options: Options) -> Answer:
    """Check every entry. The exit status is 1 if one does not hold."""
    report = services.verify(options["partition"])
    lines = [f"{each.reason}: chain {each.partition}: {each.message}" for each in report.broken]
    read = "1 entry" if report.entries == 1 else f"{report.entries} entries"
    lines.append(f"{read} read: {'the trail holds' if report.ok else 'the trail was touched'}.")
    return Answer(asdict(report), lines, status=0 if report.ok else 1)


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
    """The last hash of every chain, to be kept somewhere else."""
    data = {
        str(row.partition): {"sequence": row.sequence, "hash": row.hash} for row in AuditChain.objects.order_by("pk")
    }
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


def _verify_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--partition", type=int, help="only this chain")


def _list_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--subject", help="for example approval:5f0c…")
    parser.add_argument("--limit", type=int, default=50)


SUBCOMMANDS = (
    Subcommand("audit verify", "Prove that nobody touched the trail.", verify, _verify_arguments, _GROUP),
    Subcommand("audit list", "List entries.", list_entries, _list_arguments, _GROUP),
    Subcommand("audit heads", "Print the last hash of every chain.", heads, group_help=_GROUP),
)
