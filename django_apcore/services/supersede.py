"""Supersede: what would happen now is not what was asked for then, so a new decision is needed."""

from uuid import UUID

from django.utils import timezone

from apcore import approval
from apcore.effects import EffectRecord
from django_apcore.models import ApprovalRequest
from django_apcore.services._announce import announce
from django_apcore.services._database import alias, durable
from django_apcore.services._requests import conflict, event, lock, save
from django_apcore.services._store import store
from django_apcore.services.audit import append_all
from django_apcore.signals import approval_superseded

Status = ApprovalRequest.Status


def supersede(
    request_id: UUID | str, *, request: approval.ApprovalRequest, effect: EffectRecord, reason: str
) -> ApprovalRequest:
    """Replace a request whose effect is not the approved one any more by a pending one for `effect`, and return that.

    Two processes that find the same drift get the same successor. Raises ApprovalNotFound; ApprovalConflict (consumed,
    not_approved); InsideTransactionError.
    """
    with durable():
        old = lock(request_id)
        successor = successor_of(old)
        if successor is not None:
            return successor
        if old.status == Status.CONSUMED:
            raise conflict(old, "consumed", "This call was executed already.")
        if old.status not in (Status.PENDING, Status.APPROVED):
            raise conflict(old, "not_approved", f"This request is {old.get_status_display()}.")
        old.status = Status.SUPERSEDED
        old.finished_at = timezone.now()
        save(old, "finished_at")
        successor, requested = store(request, effect, old, reason)
        superseded = event("approval.superseded", old, None, by=str(successor.pk), reason=reason)
        append_all([superseded, requested])
        announce(approval_superseded, ApprovalRequest, request=old, successor=successor)
    return successor


def successor_of(request: ApprovalRequest) -> ApprovalRequest | None:
    """The request that took the place of this one."""
    return ApprovalRequest.objects.using(alias()).filter(supersedes=request).first()
