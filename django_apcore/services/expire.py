"""Expire: the time for a decision, or for the execution that was approved, is over."""

from uuid import UUID

from django.utils import timezone

from django_apcore.exceptions import ApprovalConflict
from django_apcore.models import ApprovalRequest
from django_apcore.services._announce import announce
from django_apcore.services._database import alias, atomic
from django_apcore.services._requests import event, find, lock_unless_executing, save
from django_apcore.services.audit import append_all
from django_apcore.signals import approval_expired

_OPEN = (ApprovalRequest.Status.PENDING, ApprovalRequest.Status.APPROVED)


def expire(request_id: UUID | str) -> ApprovalRequest:
    """Mark a request as expired if its time is over; leave every other request as it is. Raises ApprovalNotFound.

    An execution that began in time may finish: while it runs, the request is left to it.
    """
    try:
        return _expire(request_id)
    except ApprovalConflict:
        return find(request_id)


def expire_due() -> int:
    """Expire all requests whose time is over. Returns how many there were."""
    due = ApprovalRequest.objects.using(alias()).filter(status__in=_OPEN, expires_at__lte=timezone.now())
    expired = [expire(pk) for pk in list(due.order_by("expires_at").values_list("pk", flat=True))]
    return sum(request.status == ApprovalRequest.Status.EXPIRED for request in expired)


def _expire(request_id: UUID | str) -> ApprovalRequest:
    with atomic():
        request = lock_unless_executing(request_id)
        if request.status in _OPEN and request.is_expired:
            was = str(request.status)
            request.status = ApprovalRequest.Status.EXPIRED
            request.finished_at = timezone.now()
            save(request, "finished_at")
            append_all([event("approval.expired", request, None, was=was)])
            announce(approval_expired, ApprovalRequest, request=request)
    return request
