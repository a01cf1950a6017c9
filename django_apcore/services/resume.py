"""Resume: the caller comes back with the token."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from apcore.context import Context, Identity
from django_apcore.exceptions import ApprovalConflict
from django_apcore.models import ApprovalRequest
from django_apcore.secrets import decrypt, digest_matches, keyed_digest
from django_apcore.services._database import atomic
from django_apcore.services._requests import conflict, find, lock, save
from django_apcore.services.answer import refuse
from django_apcore.services.execute import call_governed
from django_apcore.services.expire import expire
from django_apcore.services.present import require_sender

Status = ApprovalRequest.Status
_KEY_PURPOSE = "idempotency"


def resume(
    request_id: UUID | str,
    *,
    module_id: str,
    inputs: Mapping[str, Any],
    context: Context,
    idempotency_key: str | None = None,
) -> dict[str, Any]:
    """Execute an approved request, or hand out the result that a worker recorded (§7.4, resume semantics).

    The result is handed out once; the same caller with the same `idempotency_key` gets it again. Raises
    ApprovalForbidden (binding_mismatch, audited) for another module, other inputs or another identity;
    ApprovalPendingError, ApprovalDeniedError, ApprovalTimeoutError by status; ApprovalConflict (already_collected,
    module_changed, policy_changed); and the recorded error of an execution that failed.
    """
    request = find(request_id)
    require_sender(request, module_id, inputs, context)
    if request.status in (Status.PENDING, Status.APPROVED) and request.is_expired:
        request = expire(request_id)
    if request.status == Status.APPROVED:
        _execute(request, inputs, context)
        request = find(request_id)
    if request.status != Status.CONSUMED:
        refuse(request)
    return _collect(request, context.identity, idempotency_key)


def _execute(request: ApprovalRequest, inputs: Mapping[str, Any], context: Context) -> None:
    """Execute here and now, unless a worker was faster, which is just as well."""
    try:
        call_governed(request, inputs, context)
    except ApprovalConflict as refused:
        if refused.details["reason"] != "consumed":
            raise


def _collect(request: ApprovalRequest, identity: Identity | None, key: str | None) -> dict[str, Any]:
    """Hand out the recorded result once, or again to whoever brings the key of the first time."""
    told = f"{identity.type}:{identity.id}:{key}".encode() if identity and key else None
    with atomic():
        request = lock(request.pk)
        if request.collected_at is None:
            request.collected_at = timezone.now()
            request.collected_key_hash = keyed_digest(_KEY_PURPOSE, told) if told else ""
            save(request, "collected_at", "collected_key_hash")
        elif told is None or not digest_matches(request.collected_key_hash, _KEY_PURPOSE, told):
            raise conflict(request, "already_collected", "The result of this approval was handed out already.")
    if request.details_removed_at is not None:
        raise conflict(request, "already_collected", "The result of this approval is no longer kept.")
    result: dict[str, Any] = decrypt(request.result_encrypted)
    return result
