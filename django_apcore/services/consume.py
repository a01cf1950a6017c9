"""Consume: spend an approval, in the very transaction that executes the call."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from apcore.effects import EffectRecord
from django_apcore.models import ApprovalRequest
from django_apcore.secrets import encrypt
from django_apcore.services._announce import announce
from django_apcore.services._calls import executor, redacted, secrets_of_stored
from django_apcore.services._requests import conflict, event, find, is_under, lock, policy_for, save
from django_apcore.services._store import bounded
from django_apcore.services.audit import Event, append_all
from django_apcore.signals import approval_consumed

Status = ApprovalRequest.Status


def consume(request_id: UUID | str) -> ApprovalRequest:
    """Lock an approved request and mark it consumed. Must run inside the executing transaction, before the module.

    Raises ApprovalNotFound; ApprovalConflict (consumed, not_approved, expired, policy_changed).
    """
    request = lock(request_id)
    require_approved(request)
    request.status = Status.CONSUMED
    request.executed_at = timezone.now()
    save(request, "executed_at")
    return request


def require_approved(request: ApprovalRequest) -> None:
    """Raise ApprovalConflict unless the request is approved, in time, and under the same policy as then."""
    if request.status == Status.CONSUMED:
        raise conflict(request, "consumed", "This approval was used already; it is good for one execution.")
    if request.status != Status.APPROVED:
        raise conflict(request, "not_approved", f"This request is {request.get_status_display()}.")
    if request.is_expired:
        raise conflict(request, "expired", "The time to use this approval is over.")
    if not is_under(request, policy_for(request.module_id)):
        raise conflict(request, "policy_changed", "The approval policy was changed after this was approved.")


def record_outcome(request_id: UUID | str, record: EffectRecord | None, result: Mapping[str, Any]) -> None:
    """Store result and committed digest of a consumed request. Must run inside the executing transaction, at its end.

    Without a record the module's own plan or claim was compared, and the approved digest is the committed one. Writes
    the audit entry of the consumption here and not in `consume`, so that the audit chain is locked only for the moment
    before the commit.
    """
    request = find(request_id)
    schema = executor().registry.get_definition(request.module_id).output_schema
    request.committed_digest = record.digest if record is not None else request.effect_digest
    request.result_encrypted = encrypt(result)
    request.result_redacted = secrets_of_stored(request).hide(redacted(result, schema))
    request.finished_at = timezone.now()
    save(request, "committed_digest", "result_encrypted", "result_redacted", "finished_at")
    append_all([_consumed(request, record)])
    announce(approval_consumed, ApprovalRequest, request=request)


def _consumed(request: ApprovalRequest, record: EffectRecord | None) -> Event:
    return event(
        "approval.consumed",
        request,
        None,
        approved_digest=request.effect_digest,
        committed_digest=request.committed_digest,
        provenance=str(record.provenance if record is not None else request.provenance),
        complete=record.complete if record is not None else request.effect_complete,
        counts=dict(record.counts) if record is not None else request.effect_counts,
        result=bounded(request.result_redacted),
    )
