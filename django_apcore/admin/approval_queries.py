"""What the request page reads: always the same number of queries, and never more changes than it shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Case, IntegerField, QuerySet, Value, When

from django_apcore.admin.presenters.changes import counts
from django_apcore.models import ApprovalDecision, ApprovalRequest, AuditEntry, EffectChange
from django_apcore.services import name_actors

CHANGES_PER_PAGE = 50
DIFFERENCES_SHOWN = 50
ENTRIES_SHOWN = 100

_UNREAD = [
    f"{request}{column}"
    for request in ("", "supersedes__", "superseded_by__")
    for column in ("inputs_encrypted", "result_encrypted")
]
_UNREAD += ["supersedes__context_json", "superseded_by__context_json"]


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """Which changes to show; an empty `action` means all of them."""

    kind: str = ""
    action: str = ""

    @property
    def parameters(self) -> dict[str, str]:
        return {"kind": self.kind, "action": self.action} if self.action else {}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str]) -> ChangeFilter:
        kind, action = parameters.get("kind", ""), parameters.get("action", "")
        return cls() if "\x00" in kind + action else cls(kind, action)


def find(request_id: Any) -> ApprovalRequest | None:
    """Read a request with what its page names; encrypted columns stay in the database."""
    related = ("policy", "requested_by", "supersedes", "superseded_by")
    requests = ApprovalRequest.objects.select_related(*related)
    return requests.defer(*_UNREAD).filter(pk=request_id).first()


def changes(approval: ApprovalRequest, wanted: ChangeFilter, number: str | None) -> Page[EffectChange]:
    """One page of changes: models that lose rows first, then by model, and what is deleted first."""
    rows = EffectChange.objects.filter(request=approval)
    if wanted.action:
        rows = rows.filter(kind=wanted.kind, action=wanted.action)
    return Paginator(_ordered(rows, approval), CHANGES_PER_PAGE).get_page(number)


def decisions(approval: ApprovalRequest) -> list[ApprovalDecision]:
    return list(ApprovalDecision.objects.filter(request=approval).order_by("decided_at", "pk"))


def trail(approval: ApprovalRequest) -> list[AuditEntry]:
    """The audit entries of this request with the names of their actors, oldest first."""
    return name_actors(AuditEntry.objects.filter(subject=approval.subject).order_by("pk")[:ENTRIES_SHOWN])


def differing(one: ApprovalRequest, other: ApprovalRequest) -> tuple[int, list[str]]:
    """How many listed changes of `one` are not also changes of `other`, and the targets of the first of them."""
    found = _meanings(one).difference(_meanings(other))
    return found.count(), [row["target"] for row in found.order_by("target")[:DIFFERENCES_SHOWN]]


def changes_of(approval: ApprovalRequest, targets: Collection[str]) -> list[EffectChange]:
    """The changes to these objects, as many as a page can show."""
    rows = EffectChange.objects.filter(request=approval, target__in=targets)
    return list(rows.order_by("position")[: 2 * DIFFERENCES_SHOWN])


def _meanings(approval: ApprovalRequest) -> QuerySet[EffectChange, Any]:
    return EffectChange.objects.filter(request=approval).order_by().values("target", "action", "before", "after")


def _ordered(rows: QuerySet[EffectChange], approval: ApprovalRequest) -> QuerySet[EffectChange]:
    deleting = {count.kind for count in counts(approval.effect_counts) if count.act.action == "delete"}
    by_kind = Case(When(kind__in=deleting, then=Value(0)), default=Value(1), output_field=IntegerField())
    by_action = Case(
        When(action="delete", then=Value(0)),
        When(action="update", then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    return rows.order_by(by_kind, "kind", by_action, "position")
