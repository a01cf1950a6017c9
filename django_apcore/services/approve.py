"""Approve: a person takes responsibility for exactly the effect that was shown."""

from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from django_apcore.models import ApprovalDecision, ApprovalPolicy, ApprovalRequest
from django_apcore.services._database import alias
from django_apcore.services._decide import decide
from django_apcore.services._requests import conflict
from django_apcore.services.execute import enqueue


def approve(
    request_id: UUID | str,
    *,
    actor: User,
    seen_digest: str,
    reason: str = "",
    confirmed: bool = False,
    channel: str = "admin",
) -> ApprovalRequest:
    """Approve a pending request whose effect has the digest that the approver saw (§7.4).

    `confirmed` acknowledges an effect that deletes rows, cannot be previewed, or is not completely known. After the
    commit a worker executes the call, unless the policy leaves that to the caller. Raises ApprovalNotFound;
    ApprovalForbidden (own_request, no_permission, not_a_decider); ApprovalConflict (already_decided, expired,
    effect_changed, confirmation_required, incomplete).
    """

    def check(request: ApprovalRequest, policy: ApprovalPolicy | None) -> None:
        _require_known_effect(request, policy)
        _require_confirmation(request, confirmed)

    return decide(
        request_id,
        ApprovalDecision.Verdict.APPROVE,
        actor=actor,
        seen_digest=seen_digest,
        reason=reason,
        channel=channel,
        check=check,
        then=_have_it_executed,
    )


def _have_it_executed(request: ApprovalRequest, policy: ApprovalPolicy | None) -> None:
    if policy is None or policy.execute_on_approval:
        transaction.on_commit(lambda: enqueue(request.pk), using=alias(), robust=True)


def _require_known_effect(request: ApprovalRequest, policy: ApprovalPolicy | None) -> None:
    if request.has_forbidden_gaps(policy):
        message = "The effect is not completely known, and no policy allows that for this module."
        raise conflict(request, "incomplete", message, gaps=request.effect_gaps)


def _require_confirmation(request: ApprovalRequest, confirmed: bool) -> None:
    if request.needs_confirmation and not confirmed:
        raise conflict(request, "confirmation_required", "Confirm that you have understood what this does.")
