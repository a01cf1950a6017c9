"""Cancel: the requester or a decider withdraws a request before it is executed."""

from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone

from apcore.context import Identity
from django_apcore.exceptions import ApprovalForbidden
from django_apcore.models import ApprovalRequest
from django_apcore.services._announce import announce
from django_apcore.services._database import atomic
from django_apcore.services._requests import conflict, event, lock_unless_executing, policy_for, require_decider, save
from django_apcore.services.audit import append_all
from django_apcore.signals import approval_cancelled

Status = ApprovalRequest.Status


def cancel(
    request_id: UUID | str, *, actor: User | None = None, identity: Identity | None = None, reason: str = ""
) -> ApprovalRequest:
    """Withdraw a request that is pending, or approved and not yet executed.

    The requester is recognised by `identity` or by `actor`; any other actor needs the right to decide. Raises
    ApprovalNotFound; ApprovalForbidden (not_the_requester); ApprovalConflict (already_decided, being_executed,
    consumed).
    """
    with atomic():
        request = lock_unless_executing(request_id)
        _require_right(request, actor, identity)
        if request.status == Status.CONSUMED:
            raise conflict(request, "consumed", "It is too late: the call was executed.")
        if request.status not in (Status.PENDING, Status.APPROVED):
            raise conflict(request, "already_decided", f"This request is {request.get_status_display()}.")
        was = str(request.status)
        request.status = Status.CANCELLED
        request.finished_at = timezone.now()
        save(request, "finished_at")
        append_all([event("approval.cancelled", request, actor or identity, was=was, reason=reason)])
        announce(approval_cancelled, ApprovalRequest, request=request)
    return request


def _require_right(request: ApprovalRequest, actor: User | None, identity: Identity | None) -> None:
    if identity is not None and request.is_from(identity):
        return
    if actor is not None and request.requested_by_id == actor.pk:
        return
    if actor is not None:
        require_decider(actor, request, policy_for(request.module_id))
        return
    raise ApprovalForbidden(
        "Only who asked for this, or who may decide on it, can cancel it.",
        reason="not_the_requester",
        approval_id=str(request.pk),
    )
