"""Remove details: what finished requests showed of people and values, once nobody needs to read it any more."""

from datetime import timedelta
from uuid import UUID

from django.db.models.functions import Coalesce
from django.utils import timezone

from django_apcore.models import ApprovalRequest
from django_apcore.services._database import alias, atomic
from django_apcore.services._requests import event, lock, save
from django_apcore.services.audit import append_all

_OPEN = (ApprovalRequest.Status.PENDING, ApprovalRequest.Status.APPROVED)


def remove_details(*, older_than: timedelta) -> int:
    """Remove the details of requests that were finished so long ago. Returns how many there were.

    Inputs, listed changes, results, the caller's context, the words of a failure and the mail that was sent go. What
    proves the decision stays: who asked and decided, digests, counts, times, and the audit trail.
    """
    ended = Coalesce("finished_at", "decided_at", "expires_at")
    finished = ApprovalRequest.objects.using(alias()).exclude(status__in=_OPEN).filter(details_removed_at=None)
    old = finished.alias(ended=ended).filter(ended__lt=timezone.now() - older_than)
    return sum(_remove(pk) for pk in list(old.values_list("pk", flat=True)))


def _remove(request_id: UUID) -> bool:
    with atomic():
        request = lock(request_id)
        if request.details_removed_at is not None:
            return False  # somebody else was faster
        changes, _by_model = request.changes.all().delete()
        messages, _by_model = request.outbox_messages.exclude(delivered_at=None).delete()
        request.inputs_encrypted = request.result_encrypted = ""
        request.inputs_redacted, request.original_inputs_redacted, request.result_redacted = {}, None, None
        request.context_json = {}
        request.failure = {"code": request.failure.get("code")} if request.failure else None
        request.details_removed_at = timezone.now()
        save(
            request,
            "inputs_encrypted",
            "inputs_redacted",
            "original_inputs_redacted",
            "result_encrypted",
            "result_redacted",
            "context_json",
            "failure",
            "details_removed_at",
        )
        gone = {"changes": changes, "messages": messages}
        append_all([event("approval.details_removed", request, None, effect_digest=request.effect_digest, **gone)])
    return True
