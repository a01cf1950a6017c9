"""Fail: an approved call was tried and could not be done; nothing of it was committed."""

from uuid import UUID

from django.utils import timezone

from apcore.errors import ModuleError
from django_apcore.models import ApprovalRequest
from django_apcore.services._announce import announce
from django_apcore.services._calls import redacted, secrets_of_stored
from django_apcore.services._database import atomic
from django_apcore.services._requests import event, lock, save
from django_apcore.services.audit import append_all
from django_apcore.signals import approval_failed


def fail(request_id: UUID | str, error: ModuleError) -> ApprovalRequest:
    """Mark an approved request as failed after its execution was rolled back; leave any other as it is.

    Raises ApprovalNotFound.
    """
    with atomic():
        request = lock(request_id)
        if request.status == ApprovalRequest.Status.APPROVED:
            request.status = ApprovalRequest.Status.FAILED
            request.failure = secrets_of_stored(request).hide(redacted(error.to_dict()))
            request.finished_at = timezone.now()
            save(request, "failure", "finished_at")
            append_all([event("approval.failed", request, None, code=error.code)])
            announce(approval_failed, ApprovalRequest, request=request)
    return request
