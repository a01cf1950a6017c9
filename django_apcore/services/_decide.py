"""What approving and rejecting have in common: one lock, one check, one decision."""

from collections.abc import Callable
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone

from django_apcore.exceptions import ApprovalConflict
from django_apcore.models import ApprovalDecision, ApprovalPolicy, ApprovalRequest
from django_apcore.models.fields import storable
from django_apcore.services._announce import announce
from django_apcore.services._database import alias, atomic
from django_apcore.services._requests import (
    event,
    govern,
    lock,
    policy_for,
    require_decider,
    require_pending,
    require_same_effect,
    save,
)
from django_apcore.services.audit import append_all
from django_apcore.services.expire import expire
from django_apcore.signals import approval_decided

Step = Callable[[ApprovalRequest, ApprovalPolicy | None], None]
Verdict = ApprovalDecision.Verdict
_STATUS = {Verdict.APPROVE: ApprovalRequest.Status.APPROVED, Verdict.REJECT: ApprovalRequest.Status.REJECTED}
_KIND = {Verdict.APPROVE: "approval.approved", Verdict.REJECT: "approval.rejected"}


def decide(
    request_id: UUID | str,
    verdict: Verdict,
    *,
    actor: User,
    seen_digest: str | None,
    reason: str,
    channel: str,
    check: Step | None = None,
    then: Step | None = None,
) -> ApprovalRequest:
    """Decide under a row lock, so that of two people who decide at once the second is told that it is done.

    `check` may refuse, with the row locked; `then` runs in the same transaction, after the decision.
    """
    try:
        with atomic():
            request = lock(request_id)
            policy = policy_for(request.module_id)
            _require_decidable(request, policy, actor, seen_digest)
            if check is not None:
                check(request, policy)
            _record(request, policy, verdict, actor, reason, ApprovalDecision.Channel(channel))
            if then is not None:
                then(request, policy)
    except ApprovalConflict as refused:
        if refused.details["reason"] == "expired":
            expire(request_id)
        raise
    return request


def _require_decidable(
    request: ApprovalRequest, policy: ApprovalPolicy | None, actor: User, seen_digest: str | None
) -> None:
    require_decider(actor, request, policy)
    require_pending(request)
    if seen_digest is not None:
        require_same_effect(request, seen_digest)


def _record(
    request: ApprovalRequest,
    policy: ApprovalPolicy | None,
    verdict: Verdict,
    actor: User,
    reason: str,
    channel: ApprovalDecision.Channel,
) -> None:
    request.status = _STATUS[verdict]
    request.decided_at = timezone.now()
    govern(request, policy)
    save(request, "decided_at", "policy", "policy_revision")
    decision = ApprovalDecision.objects.using(alias()).create(
        request=request,
        verdict=verdict,
        decided_by=actor,
        decided_by_name=actor.get_full_name() or actor.get_username(),
        reason=storable(reason),
        effect_digest=request.effect_digest,
        decided_at=request.decided_at,
        channel=channel,
    )
    known = {"by": actor.get_username(), "reason": reason, "effect_digest": request.effect_digest, "channel": channel}
    append_all([event(_KIND[verdict], request, actor, **known)])
    announce(approval_decided, ApprovalRequest, request=request, decision=decision)
