"""What became of a request after it was decided, or when nobody could decide any more."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from django_apcore.admin.presenters.changes import FieldRow, field_rows
from django_apcore.admin.presenters.statements import Statement, Tone
from django_apcore.admin.presenters.times import ago, capital, moment, until
from django_apcore.admin.presenters.values import visible
from django_apcore.models import ApprovalDecision, ApprovalRequest, AuditEntry

Provenance = ApprovalRequest.Provenance
Status = ApprovalRequest.Status
Verdict = ApprovalDecision.Verdict


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended, or what it waits for; `result` is what the module returned, redacted."""

    title: str
    statements: tuple[Statement, ...]
    result: tuple[FieldRow, ...] = ()


def outcome(
    approval: ApprovalRequest, decision: ApprovalDecision | None, withdrawal: AuditEntry | None = None
) -> Outcome | None:
    """Nothing while a decision is still awaited. `withdrawal` is the entry of who cancelled it."""
    match Status(approval.status):
        case Status.APPROVED:
            return _approved(approval, decision)
        case Status.CONSUMED:
            return _consumed(approval, decision)
        case Status.REJECTED:
            return Outcome(_("Rejected"), (_decided(decision), _untouched()))
        case Status.FAILED:
            return Outcome(_("Approved, and failed"), (_decided(decision), _failure(approval), _left_behind(approval)))
        case Status.SUPERSEDED:
            return _superseded(approval, decision)
        case Status.CANCELLED:
            return Outcome(_("Cancelled"), (*_once(decision), _withdrawn(withdrawal), _untouched()))
        case Status.EXPIRED:
            return _expired(approval, decision)
    return _expired(approval, None) if approval.is_expired else None


def is_waiting(approval: ApprovalRequest) -> bool:
    """Whether something is about to happen by itself: a worker has an approved call to run."""
    by_worker = approval.policy is None or approval.policy.execute_on_approval
    return approval.status == Status.APPROVED and by_worker and not approval.is_expired


def _approved(approval: ApprovalRequest, decision: ApprovalDecision | None) -> Outcome:
    if is_waiting(approval):
        lead = _("Waiting for a worker")
        text = _("It runs as soon as a worker is free. This page looks again by itself.")
    elif approval.is_expired:
        lead, text = _("Not executed"), _("It was not executed in time, and the approval is no longer valid.")
    else:
        lead = _("Waiting for the caller")
        text = _("The caller may run it once. The approval ends {until}.").format(until=until(approval.expires_at))
    return Outcome(_("Approved"), (_decided(decision), _statement("note", lead, text)))


def _consumed(approval: ApprovalRequest, decision: ApprovalDecision | None) -> Outcome:
    executed = approval.executed_at or approval.finished_at
    when = _("It ran {ago} ({moment}).").format(ago=ago(executed), moment=moment(executed)) if executed else ""
    result = approval.result_redacted
    return Outcome(
        _("Approved and executed"),
        (_decided(decision), _statement("good", _("Executed once"), when), _committed(approval)),
        field_rows(None, result) if isinstance(result, Mapping) else (),
    )


def _committed(approval: ApprovalRequest) -> Statement:
    """Whether what was committed is what was approved, claiming no more than was compared."""
    equal = bool(approval.committed_digest) and approval.committed_digest == approval.effect_digest
    match approval.provenance:
        case Provenance.NONE:
            text = _("What it changed was neither previewed nor compared with anything.")
            return _statement("warn", _("Not measured"), text)
        case Provenance.DECLARED if equal:
            text = _("Just before it ran, the module said again what you had approved. What it did was not measured.")
            return _statement("warn", _("The same claim"), text, approval.committed_digest)
        case Provenance.PLANNED if equal:
            text = _("The digest of the plan that was applied equals the digest of the plan that was approved.")
            return _statement("good", _("Exactly the approved plan was applied"), text, approval.committed_digest)
        case _ if equal:
            text = _("The digest of what was committed equals the digest of what was approved.")
            return _statement("good", _("Exactly what was approved was committed"), text, approval.committed_digest)
    text = _("What was committed has another digest than what was approved. Look into this at once.")
    return _statement("bad", _("The digests differ"), text, approval.effect_digest, approval.committed_digest)


def _superseded(approval: ApprovalRequest, decision: ApprovalDecision | None) -> Outcome:
    successor: ApprovalRequest | None = getattr(approval, "superseded_by", None)
    if successor is None or successor.superseded_reason == "drift":
        why = _("At execution its effect was no longer the approved one.")
    else:
        why = _("It was not executed: {reason}.").format(reason=visible(successor.superseded_reason))
    text = _("{why} A new request shows what would happen now.").format(why=why)
    replaced = _statement("warn", _("Its place was taken"), text)
    return Outcome(_("Replaced by a newer request"), (_decided(decision), replaced, _untouched()))


def _expired(approval: ApprovalRequest, decision: ApprovalDecision | None) -> Outcome:
    text = _("The time for it ended {ago} ({moment}). Who still wants it has to ask again.").format(
        ago=ago(approval.expires_at), moment=moment(approval.expires_at)
    )
    return Outcome(_("Expired"), (*_once(decision), _statement("warn", _("Too late"), text), _untouched()))


def _withdrawn(entry: AuditEntry | None) -> Statement:
    if entry is None:
        return _statement("note", _("Withdrawn"), _("Somebody cancelled the request."))
    lead = _("Withdrawn by {name}").format(name=visible(entry.actor_name or entry.actor))
    return _statement("note", lead, _when_and_why(entry.at, str(entry.data.get("reason") or "")))


def _once(decision: ApprovalDecision | None) -> tuple[Statement, ...]:
    """What was decided before it came to nothing, if anything was."""
    return () if decision is None else (_decided(decision),)


def _decided(decision: ApprovalDecision | None) -> Statement:
    if decision is None:
        return _statement("note", _("Not decided"), _("Nobody approved or rejected it."))
    said, name = _when_and_why(decision.decided_at, decision.reason), visible(decision.decided_by_name)
    if decision.verdict == Verdict.APPROVE:
        return _statement("good", _("Approved by {name}").format(name=name), said)
    return _statement("bad", _("Rejected by {name}").format(name=name), said)


def _when_and_why(when: datetime, reason: str) -> str:
    said = capital(_("{ago} ({moment}).").format(ago=ago(when), moment=moment(when)))
    return _("{said} The reason given: {reason}").format(said=said, reason=visible(reason)) if reason else said


def _failure(approval: ApprovalRequest) -> Statement:
    failure = approval.failure or {}
    text = visible(str(failure.get("message") or _("The module failed.")))
    return _statement("bad", _("Failed"), text, visible(str(failure.get("code") or "")))


def _left_behind(approval: ApprovalRequest) -> Statement:
    """What a call that failed has changed: a module that was not measured may have done more than write rows."""
    if approval.provenance == Provenance.MEASURED:
        return _untouched()
    text = _("No row that it wrote stays. What it did outside of the databases before it failed is not known.")
    return _statement("warn", _("Rolled back"), text)


def _untouched() -> Statement:
    return _statement("note", _("Nothing was changed"), _("No row was written and nothing was sent."))


def _statement(tone: Tone, lead: str, text: str, *points: str) -> Statement:
    return Statement(tone, lead, text, tuple(filter(None, points)))
