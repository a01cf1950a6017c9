"""Reject: a person refuses a request, and says why."""

from uuid import UUID

from django.contrib.auth.models import User

from apcore.errors import InvalidInputError
from django_apcore.models import ApprovalDecision, ApprovalRequest
from django_apcore.services._decide import decide


def reject(
    request_id: UUID | str, *, actor: User, reason: str, seen_digest: str | None = None, channel: str = "admin"
) -> ApprovalRequest:
    """Reject a pending request. A reason is required.

    With `seen_digest` a request whose effect was measured again since then is not rejected unseen. Raises
    ApprovalNotFound; ApprovalForbidden (own_request, no_permission, not_a_decider); ApprovalConflict
    (already_decided, expired, effect_changed); InvalidInputError without a reason.
    """
    if not reason.strip():
        raise InvalidInputError("A rejection needs a reason.", details={"field": "reason"})
    return decide(
        request_id,
        ApprovalDecision.Verdict.REJECT,
        actor=actor,
        seen_digest=seen_digest,
        reason=reason,
        channel=channel,
    )
