"""Decisions and audit entries of one request, oldest first."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from django_apcore.admin.presenters.requests import StatusMark
from django_apcore.admin.presenters.times import moment
from django_apcore.admin.presenters.values import visible
from django_apcore.models import ApprovalDecision, AuditEntry


@dataclass(frozen=True, slots=True)
class DecisionRow:
    status: StatusMark
    who: str
    when: str
    reason: str


@dataclass(frozen=True, slots=True)
class TrailRow:
    kind: str
    who: str
    when: str
    number: int
    label: str


def decision_row(decision: ApprovalDecision) -> DecisionRow:
    if decision.verdict == ApprovalDecision.Verdict.APPROVE:
        mark = StatusMark("✓", _("approved"), "consumed")
    else:
        mark = StatusMark("✕", _("rejected"), "rejected")
    channel = ApprovalDecision.Channel(decision.channel).label
    when = _("{moment}, through the {channel}").format(moment=moment(decision.decided_at), channel=channel)
    return DecisionRow(mark, visible(decision.decided_by_name), when, visible(decision.reason))


def trail_row(entry: AuditEntry) -> TrailRow:
    label = _("Audit entry {number}").format(number=entry.pk)
    return TrailRow(entry.kind, visible(entry.actor), moment(entry.at), entry.pk, label)
