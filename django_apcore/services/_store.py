"""The rows of a new request: the call, the policy it falls under, and its effect change by change."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from apcore import approval
from apcore.context import Identity
from apcore.effects import NO_EFFECT, EffectRecord
from apcore.modules import UNSET, Change, ModuleDefinition
from django_apcore.conf import get_settings
from django_apcore.exceptions import ApprovalForbidden
from django_apcore.models import ApprovalPolicy, ApprovalRequest, EffectChange
from django_apcore.services._announce import announce
from django_apcore.services._calls import StoredInputs, caller_context, executor, identity_columns, redacted, user_pk
from django_apcore.services._database import alias
from django_apcore.services._requests import event, govern, inputs_digest, policy_for
from django_apcore.services.audit import Event
from django_apcore.signals import approval_requested

_BATCH = 500
_AUDITED_BYTES = 8192


def store(
    request: approval.ApprovalRequest, effect: EffectRecord | None, supersedes: ApprovalRequest | None, reason: str
) -> tuple[ApprovalRequest, Event]:
    """Write a pending request in the caller's transaction. Returns it with the audit event that is to be appended."""
    effect = effect or NO_EFFECT
    definition = request.definition or executor().registry.get_definition(request.module_id)
    policy = policy_for(request.module_id)
    require_person(request, definition, effect, policy)
    row = ApprovalRequest(
        id=uuid.uuid4(),
        expires_at=timezone.now() + (policy.expires_after if policy else get_settings().approval_expires_after),
        supersedes=supersedes,
        superseded_reason=reason,
        **_module_columns(request, definition),
        **_caller_columns(request),
    )
    govern(row, policy)
    _set_inputs(row, request, definition)
    set_effect(row, effect)
    row.save(using=alias(), force_insert=True)
    store_changes(row, effect)
    announce(approval_requested, ApprovalRequest, request=row)
    return row, _requested(row, request.context.identity)


def set_effect(row: ApprovalRequest, effect: EffectRecord) -> None:
    """Put an effect into the columns of a request."""
    row.provenance = effect.provenance
    row.effect_complete = effect.complete
    row.effect_gaps = list(effect.gaps)
    row.effect_unwatched = list(effect.unwatched)
    row.effect_digest = effect.digest
    row.effect_counts = dict(effect.counts)
    row.effect_total = effect.total
    row.effect_listed = min(len(effect.changes), get_settings().effect_listed)
    row.effect_destructive = effect.destructive
    row.measured_at = timezone.now()


EFFECT_COLUMNS = (
    "provenance",
    "effect_complete",
    "effect_gaps",
    "effect_unwatched",
    "effect_digest",
    "effect_counts",
    "effect_total",
    "effect_listed",
    "effect_destructive",
    "measured_at",
)


def store_changes(row: ApprovalRequest, effect: EffectRecord) -> None:
    """Write the listed changes of an effect, in its order."""
    listed = effect.changes[: row.effect_listed]
    changes = [_change(row, position, change) for position, change in enumerate(listed)]
    EffectChange.objects.using(alias()).bulk_create(changes, batch_size=_BATCH)


def bounded(value: Any) -> Any:
    """A value for the audit trail, or its size where it is too long to keep for ever."""
    size = len(repr(value))
    return value if size <= _AUDITED_BYTES else {"omitted": f"about {size} characters"}


def require_person(
    request: approval.ApprovalRequest,
    definition: ModuleDefinition,
    effect: EffectRecord,
    policy: ApprovalPolicy | None,
) -> None:
    """Raise ApprovalForbidden where only a person may start this call.

    That is what the policy says, or, without one, what can neither be previewed nor undone: approving it is not enough.
    """
    if _is_person(request.context.identity):
        return
    if policy.human_initiated if policy else effect.provenance == "none" and not _is_repairable(definition):
        raise ApprovalForbidden(
            f"{request.module_id} has to be started by a person: it can neither be previewed nor undone, or its policy "
            "says so.",
            reason="human_required",
            module_id=request.module_id,
        )


def _is_person(identity: Identity | None) -> bool:
    return identity is not None and identity.type == "user" and identity.attrs.get("via") != "token"


def _is_repairable(definition: ModuleDefinition) -> bool:
    return definition.annotations.idempotent or bool(definition.metadata.get("x-compensation"))


def _module_columns(request: approval.ApprovalRequest, definition: ModuleDefinition) -> dict[str, Any]:
    return {
        "module_id": request.module_id,
        "module_hash": definition.content_hash,
        "module_description": request.description or definition.description,
        "annotations": request.annotations.to_dict(),
        "compensation": str(definition.metadata.get("x-compensation") or ""),
    }


def _caller_columns(request: approval.ApprovalRequest) -> dict[str, Any]:
    context = request.context
    return {
        "caller_id": context.caller_id,
        "call_chain": list(context.call_chain),
        "trace_id": context.trace_id,
        "context_json": caller_context(context),
        "requested_by_id": user_pk(context.identity),
        **identity_columns(context.identity),
    }


def _set_inputs(row: ApprovalRequest, request: approval.ApprovalRequest, definition: ModuleDefinition) -> None:
    inputs = StoredInputs(request.arguments, request.original_arguments)
    row.inputs_encrypted = inputs.encrypted()
    row.inputs_digest = inputs_digest(row.pk, dict(inputs.effective))
    row.original_inputs_digest = inputs_digest(row.pk, dict(inputs.sent))
    row.inputs_redacted = redacted(dict(inputs.effective), definition.input_schema)
    if inputs.original is not None:
        row.original_inputs_redacted = redacted(dict(inputs.original), definition.input_schema)


def _change(row: ApprovalRequest, position: int, change: Change) -> EffectChange:
    extras: Mapping[str, Any] = change.extras
    return EffectChange(
        request=row,
        position=position,
        action=change.action[:64],
        kind=str(extras.get("x-kind") or change.target.partition(":")[0])[:200],
        target=change.target,
        label=str(extras.get("x-label") or ""),
        summary=change.summary,
        before=_snapshot(change.before),
        after=_snapshot(change.after),
        extras=dict(extras),
    )


def _snapshot(value: Any) -> Any:
    return None if value is UNSET else redacted(value)


def _rewritten(row: ApprovalRequest) -> dict[str, Any]:
    """What the caller sent and who changed it, where somebody did."""
    if row.original_inputs_redacted is None:
        return {}
    return {"original_inputs": bounded(row.original_inputs_redacted), "rewrites": row.rewrites}


def _requested(row: ApprovalRequest, identity: Identity | None) -> Event:
    return event(
        "approval.requested",
        row,
        identity,
        inputs=bounded(row.inputs_redacted),
        **_rewritten(row),
        provenance=str(row.provenance),
        complete=row.effect_complete,
        effect_digest=row.effect_digest,
        counts=row.effect_counts,
        expires_at=row.expires_at.isoformat(),
        supersedes=row.supersedes_id and str(row.supersedes_id),
        superseded_reason=row.superseded_reason,
    )
