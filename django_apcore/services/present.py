"""Present: somebody shows a token. It is good for the very call that it was given for, and for nothing else."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apcore.approval import ApprovalRequest as ApprovalQuestion
from apcore.context import Context, Identity
from django_apcore.exceptions import ApprovalForbidden
from django_apcore.models import ApprovalRequest
from django_apcore.services._calls import with_defaults
from django_apcore.services._requests import conflict, event, find, inputs_match
from django_apcore.services.audit import append_all
from django_apcore.services.consume import require_approved

Status = ApprovalRequest.Status


def present(request_id: UUID | str, question: ApprovalQuestion) -> ApprovalRequest:
    """Return the request that a token names, if this call is the one that it was opened for.

    An approved request has to be usable as well: in time, under the same policy, by the same code of the module. Raises
    ApprovalNotFound; ApprovalForbidden (binding_mismatch, audited); ApprovalConflict (consumed, expired,
    policy_changed, module_changed).
    """
    request = find(request_id)
    is_effective = inputs_match(request.inputs_digest, request.pk, dict(question.arguments))
    require_binding(request, question.module_id, is_effective, question.context)
    if request.status in (Status.APPROVED, Status.CONSUMED):
        require_approved(request)
        if question.definition is not None:
            require_same_module(request, question.definition.content_hash)
    return request


def require_sender(request: ApprovalRequest, module_id: str, inputs: Mapping[str, Any], context: Context) -> None:
    """Like the binding check of `present`, for the inputs as the caller sent them, before any rewriter.

    Where none changed them the executor has only filled in defaults, and a caller may leave those out again.
    """
    sent = [dict(inputs), with_defaults(module_id, inputs)]
    is_sent = any(inputs_match(request.original_inputs_digest, request.pk, each) for each in sent)
    require_binding(request, module_id, is_sent, context)


def require_same_module(request: ApprovalRequest, content_hash: str) -> None:
    """Raise ApprovalConflict if the module is not the code and contract that the approver was shown."""
    if request.module_hash != content_hash:
        raise conflict(request, "module_changed", "The module was changed after this was asked for.")


def require_binding(request: ApprovalRequest, module_id: str, has_same_inputs: bool, context: Context) -> None:
    """Raise ApprovalForbidden, and write it down, unless module, inputs and identity are those of the request."""
    identity = context.identity
    is_same = {
        "module_id": request.module_id == module_id,
        "inputs": has_same_inputs,
        "identity": request.is_from(identity),
    }
    different = [name for name, same in is_same.items() if not same]
    if different:
        _write_down(request, different, module_id, identity)
        raise ApprovalForbidden(
            "This approval was given for another call.", reason="binding_mismatch", approval_id=str(request.pk)
        )


def _write_down(request: ApprovalRequest, different: list[str], module_id: str, identity: Identity | None) -> None:
    append_all([event("approval.misused", request, identity, different=different, presented_module=module_id[:192])])
