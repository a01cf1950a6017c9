"""Approve: a person takes responsibility for exactly the effect that was shown."""

from uuid import UUID

from django.contrib.auth.models import User

from django_apcore.models import ApprovalRequest


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
    raise NotImplementedError
