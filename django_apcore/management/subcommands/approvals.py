"""`approvals`: the queue, and decisions."""

from argparse import ArgumentParser
from typing import Any

from django_apcore import services
from django_apcore.management.subcommands.base import (
    Answer,
    Options,
    Subcommand,
    actor_of,
    add_user,
    counted,
    days,
    fields,
    number,
    table,
)
from django_apcore.models import ApprovalRequest

_GROUP = "Approval requests."


def list_requests(options: Options) -> Answer:
    """The latest requests, newest first."""
    requests = ApprovalRequest.objects.select_related("requested_by")
    if options["status"]:
        requests = requests.filter(status=options["status"])
    rows = list(requests[: options["limit"]])
    table_rows = [
        (row.pk, row.status, row.module_id, _who(row), row.effect_total, f"{row.expires_at:%Y-%m-%d %H:%M}")
        for row in rows
    ]
    headings = ("REQUEST", "STATUS", "MODULE", "ASKED BY", "CHANGES", "EXPIRES")
    return Answer([_summary(row) for row in rows], table(table_rows, *headings))


def show(options: Options) -> Answer:
    """One request with its changes and decisions."""
    row = services.find_request(options["request_id"])
    changes = [
        {
            "action": each.action,
            "target": each.target,
            "summary": each.summary,
            "before": each.before,
            "after": each.after,
        }
        for each in row.changes.all()[: options["limit"]]
    ]
    decisions = [
        {"verdict": each.verdict, "by": each.decided_by_name, "reason": each.reason, "at": each.decided_at.isoformat()}
        for each in row.decisions.all()
    ]
    outcome = {
        "failure": row.failure,
        "supersedes": _id(row.supersedes),
        "superseded_by": _id(getattr(row, "superseded_by", None)),
    }
    data = {**_summary(row), "inputs": row.inputs_redacted, **outcome, "changes": changes, "decisions": decisions}
    told = {name: value for name, value in outcome.items() if value}
    if row.failure:
        told["failure"] = f"{row.failure.get('message', '')} [{row.failure.get('code', '')}]"
    lines = fields({**_summary(row), "inputs": row.inputs_redacted, **told})
    lines += [f"  {change['action']:8} {change['summary']}" for change in changes]
    lines += [f"  {each['by']}: {each['verdict']} {each['reason']}" for each in decisions]
    return Answer(data, lines)


def approve(options: Options) -> Answer:
    """Approve the effect with the digest that was seen."""
    row = services.approve(
        options["request_id"],
        actor=actor_of(options),
        seen_digest=options["digest"],
        reason=options["reason"],
        confirmed=options["confirm"],
        channel="command",
    )
    return _settled(row)


def reject(options: Options) -> Answer:
    """Reject, with a reason."""
    actor = actor_of(options)
    return _settled(services.reject(options["request_id"], actor=actor, reason=options["reason"], channel="command"))


def cancel(options: Options) -> Answer:
    """Withdraw a request."""
    return _settled(services.cancel(options["request_id"], actor=actor_of(options), reason=options["reason"]))


def remeasure(options: Options) -> Answer:
    """Measure the effect of a pending request again."""
    return _settled(services.remeasure(options["request_id"], actor=actor_of(options)))


def expire(options: Options) -> Answer:
    """Expire what is due."""
    count = services.expire_due()
    return Answer({"expired": count}, [f"{counted(count, 'request')} expired."])


def remove_details(options: Options) -> Answer:
    """Remove inputs, changes and results of requests that were finished long ago."""
    count = services.remove_details(older_than=options["older_than"])
    return Answer({"requests": count}, [f"Details of {counted(count, 'request')} removed."])


def _settled(row: ApprovalRequest) -> Answer:
    return Answer(_summary(row), [f"Request {row.pk} is {row.status}."])


def _summary(row: ApprovalRequest) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "status": str(row.status),
        "module_id": row.module_id,
        "asked_by": _who(row),
        "created_at": row.created_at.isoformat(),
        "expires_at": row.expires_at.isoformat(),
        "provenance": str(row.provenance),
        "complete": row.effect_complete,
        "gaps": row.effect_gaps,
        "counts": row.effect_counts,
        "total": row.effect_total,
        "effect_digest": row.effect_digest,
        "committed_digest": row.committed_digest,
        "needs_confirmation": row.needs_confirmation,
    }


def _id(row: ApprovalRequest | None) -> str | None:
    return str(row.pk) if row else None


def _who(row: ApprovalRequest) -> str:
    if row.requested_by is not None:
        return row.requested_by.get_username()
    return f"{row.identity_type}:{row.identity_id}" if row.identity_type else "anonymous"


def _list_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--status", choices=ApprovalRequest.Status.values)
    parser.add_argument("--limit", type=number, default=50)


def _show_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("request_id")
    parser.add_argument("--limit", type=number, default=50, help="show at most so many changes")


def _approve_arguments(parser: ArgumentParser) -> None:
    _decision_arguments(parser)
    parser.add_argument("--digest", required=True, help="the effect digest that `approvals show` printed")
    parser.add_argument("--confirm", action="store_true", help="confirm an effect that destroys or is not fully known")


def _decision_arguments(parser: ArgumentParser) -> None:
    _action_arguments(parser)
    parser.add_argument("--reason", default="")


def _action_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("request_id")
    add_user(parser, required=True)


def _removal_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--older-than", type=days, required=True, metavar="DAYS", help="since a request was finished")


SUBCOMMANDS = (
    Subcommand("approvals list", "List requests.", list_requests, _list_arguments, _GROUP),
    Subcommand("approvals show", "Show one request.", show, _show_arguments, _GROUP),
    Subcommand("approvals approve", "Approve what was shown.", approve, _approve_arguments, _GROUP),
    Subcommand("approvals reject", "Reject a request.", reject, _decision_arguments, _GROUP),
    Subcommand("approvals cancel", "Withdraw a request.", cancel, _decision_arguments, _GROUP),
    Subcommand("approvals remeasure", "Measure a pending request again.", remeasure, _action_arguments, _GROUP),
    Subcommand("approvals expire", "Expire what is due.", expire, group_help=_GROUP),
    Subcommand("approvals clean", "Remove details of old requests.", remove_details, _removal_arguments, _GROUP),
)
