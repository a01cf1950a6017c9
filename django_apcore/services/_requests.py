"""What the verbs share: find and lock a request, know its policy, and say why it is not in the state they need."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import OperationalError, connections
from django.utils import timezone

from apcore.context import Identity
from apcore.ids import match_pattern
from django_apcore.exceptions import ApprovalConflict, ApprovalForbidden, ApprovalNotFound, ConflictReason
from django_apcore.models import ApprovalPolicy, ApprovalRequest, AuditEntry
from django_apcore.permissions import REFUSALS, refusal
from django_apcore.secrets import digest_matches, keyed_digest, to_bytes
from django_apcore.services._database import alias, atomic, row_id, sqlstate_of
from django_apcore.services.audit import Event

Status = ApprovalRequest.Status
_LOCK_NOT_AVAILABLE = "55P03"


def find(request_id: UUID | str) -> ApprovalRequest:
    """Read a request. Raises ApprovalNotFound."""
    request = ApprovalRequest.objects.using(alias()).select_related("policy").filter(pk=row_id(request_id)).first()
    return _found(request, request_id)


def lock(request_id: UUID | str) -> ApprovalRequest:
    """Read a request and lock its row until the transaction ends. Raises ApprovalNotFound."""
    rows = ApprovalRequest.objects.using(alias()).select_for_update(of=("self",)).select_related("policy")
    return _found(rows.filter(pk=row_id(request_id)).first(), request_id)


def lock_unless_executing(request_id: UUID | str) -> ApprovalRequest:
    """Like `lock`, for those who should not wait for an execution, which holds the row from its beginning to its end.

    Raises ApprovalConflict (being_executed) after a moment. Databases that cannot tell, such as SQLite, wait.
    """
    connection = connections[alias()]
    if connection.vendor != "postgresql":
        return lock(request_id)
    try:
        with atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '1s'")
            request = lock(request_id)
            cursor.execute("SET LOCAL lock_timeout = DEFAULT")
            return request
    except OperationalError as error:
        if sqlstate_of(error) != _LOCK_NOT_AVAILABLE:
            raise
        message = "This call is being executed at this moment."
        raise ApprovalConflict(message, reason="being_executed", approval_id=str(request_id)) from error


def policy_for(module_id: str) -> ApprovalPolicy | None:
    """The policy that governs a module now: the first active one whose pattern matches."""
    policies = ApprovalPolicy.objects.using(alias()).filter(active=True).order_by("position", "pk")
    return next((policy for policy in policies if match_pattern(policy.pattern, module_id)), None)


def is_under(request: ApprovalRequest, policy: ApprovalPolicy | None) -> bool:
    """Whether a request is still governed by the revision of the policy that it was opened or approved under."""
    return (request.policy_id, request.policy_revision) == (_pk(policy), policy.revision if policy else 0)


def govern(request: ApprovalRequest, policy: ApprovalPolicy | None) -> None:
    """Put a request under the present revision of a policy."""
    request.policy = policy
    request.policy_revision = policy.revision if policy else 0


def require_decider(user: User, request: ApprovalRequest, policy: ApprovalPolicy | None, *, own: bool = False) -> None:
    """Raise ApprovalForbidden unless the user may decide on the request. `own` lifts the rule of four eyes."""
    reason = refusal(user, request, policy.deciders_id if policy else None)
    if reason is not None and not (own and reason == "own_request"):
        raise ApprovalForbidden(REFUSALS[reason], reason=reason, approval_id=str(request.pk))


def require_pending(request: ApprovalRequest) -> None:
    """Raise ApprovalConflict unless the request still waits for a decision."""
    if request.status == Status.EXPIRED or (request.status == Status.PENDING and request.is_expired):
        raise conflict(request, "expired", "The time for this request is over.")
    if request.status != Status.PENDING:
        raise conflict(request, "already_decided", _how_it_stands(request))


def require_same_effect(request: ApprovalRequest, seen_digest: str) -> None:
    """Raise ApprovalConflict if the effect is not, or no longer, the one that was seen."""
    if seen_digest == request.effect_digest:
        return
    if seen_digest in _former_digests(request):
        message = "The effect was measured again and is no longer the one you saw. Look at it before you decide."
    else:
        message = "This is not the digest of the effect that the request shows. Look at it before you decide."
    raise conflict(request, "effect_changed", message, effect_digest=request.effect_digest)


def conflict(request: ApprovalRequest, reason: ConflictReason, message: str, **details: Any) -> ApprovalConflict:
    """The error that says where a request stands."""
    return ApprovalConflict(message, reason=reason, approval_id=str(request.pk), status=str(request.status), **details)


def event(kind: str, request: ApprovalRequest, actor: User | Identity | None, **data: Any) -> Event:
    """An audit event about a request."""
    return Event(kind, request.subject, actor, request.module_id, request.trace_id, data)


def save(request: ApprovalRequest, *fields: str) -> None:
    """Write the status and these fields of a locked request."""
    request.save(using=alias(), update_fields=["status", *fields])


def inputs_digest(request_id: UUID, inputs: Any) -> str:
    """The digest that binds a request to its inputs. Equal inputs of two requests have different digests."""
    return keyed_digest(_purpose(request_id), to_bytes(inputs))


def inputs_match(digest: str, request_id: UUID, inputs: Any) -> bool:
    """Whether inputs are those of the digest; constant time."""
    return digest_matches(digest, _purpose(request_id), to_bytes(inputs))


def _purpose(request_id: UUID) -> str:
    return f"inputs:{request_id}"


def _former_digests(request: ApprovalRequest) -> list[str]:
    """What the effect was before it was measured again, by the audit trail."""
    entries = AuditEntry.objects.using(alias()).filter(subject=request.subject, kind="approval.remeasured")
    return [data.get("before", "") for data in entries.values_list("data", flat=True)]


def _how_it_stands(request: ApprovalRequest) -> str:
    decision = request.decisions.order_by("-pk").first()
    if decision is None:
        return f"This request is {request.get_status_display()}."
    when = timezone.localtime(decision.decided_at).strftime("%Y-%m-%d %H:%M")
    verb = "approved" if decision.verdict == decision.Verdict.APPROVE else "rejected"
    return f"{decision.decided_by_name} {verb} this request at {when}; it is {request.get_status_display()}."


def _found(request: ApprovalRequest | None, request_id: UUID | str) -> ApprovalRequest:
    if request is None:
        raise ApprovalNotFound("There is no such approval request.", details={"approval_id": str(request_id)[:64]})
    return request


def _pk(policy: ApprovalPolicy | None) -> int | None:
    return policy.pk if policy else None
