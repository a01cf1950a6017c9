"""Answer: where a request stands, in the words of the protocol (§7.3.2, §7.5)."""

from typing import Any, NoReturn

from apcore.approval import ApprovalResult
from apcore.errors import ApprovalDeniedError, ApprovalPendingError, ApprovalTimeoutError, ErrorCodes, ModuleError
from django_apcore.models import ApprovalRequest
from django_apcore.services.supersede import successor_of

Status = ApprovalRequest.Status


def result_of(request: ApprovalRequest) -> ApprovalResult:
    """A request as the answer of an approval handler (§7.3.2). One that was approved names the effect it holds for."""
    metadata = {"expires_at": request.expires_at.isoformat(), "request_status": str(request.status)}
    match request.status:
        case Status.APPROVED | Status.CONSUMED:
            return _approved(request, metadata)
        case Status.PENDING:
            return ApprovalResult("pending", None, "Nobody has decided yet.", str(request.pk), metadata)
        case Status.EXPIRED:
            return ApprovalResult("timeout", None, "The time for this request is over.", str(request.pk), metadata)
        case Status.SUPERSEDED:
            return _superseded(request, metadata)
        case Status.REJECTED:
            by, reason = _decision(request)
            return ApprovalResult("rejected", by, reason, str(request.pk), metadata)
        case _:
            reason = f"This request is {request.get_status_display()}."
            return ApprovalResult("rejected", None, reason, str(request.pk), metadata)


def refuse(request: ApprovalRequest) -> NoReturn:
    """Raise the error that says why a request has no result (§7.5); for a failed one, the error it failed with."""
    if request.status == Status.FAILED:
        raise ModuleError.from_dict(request.failure or {"code": ErrorCodes.MODULE_EXECUTE_ERROR})
    result = result_of(request)
    details = {"approval_id": result.approval_id, **(result.metadata or {})}
    if result.status == "pending":
        raise ApprovalPendingError(result, result.reason or "", details=details)
    if result.status == "timeout":
        raise ApprovalTimeoutError(result, result.reason or "", details=details)
    raise ApprovalDeniedError(result, result.reason or "", details=details)


def _approved(request: ApprovalRequest, metadata: dict[str, Any]) -> ApprovalResult:
    by, reason = _decision(request)
    metadata["stored"] = True  # tells the runner that there is a row to consume
    if request.provenance != request.Provenance.NONE:
        metadata["effect_digest"] = request.effect_digest
    return ApprovalResult("approved", by, reason, str(request.pk), metadata)


def _superseded(request: ApprovalRequest, metadata: dict[str, Any]) -> ApprovalResult:
    successor = successor_of(request)
    if successor is None:
        return ApprovalResult("rejected", None, "This request was superseded.", str(request.pk), metadata)
    told = {**metadata, "supersedes": str(request.pk), "expires_at": successor.expires_at.isoformat()}
    reason = f"Another request took the place of this one ({successor.superseded_reason}): use its approval."
    return ApprovalResult("pending", None, reason, str(successor.pk), told)


def _decision(request: ApprovalRequest) -> tuple[str | None, str | None]:
    decision = request.decisions.order_by("-pk").first()
    return (decision.decided_by_name, decision.reason or None) if decision else (None, None)
