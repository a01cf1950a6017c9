"""Request: store a call that needs a decision, with the effect that was measured for it."""

from uuid import UUID

from apcore import approval
from apcore.effects import NO_EFFECT
from django_apcore.models import ApprovalRequest
from django_apcore.services._database import durable
from django_apcore.services._store import store
from django_apcore.services.audit import append_all
from django_apcore.services.supersede import supersede


def open_request(
    request: approval.ApprovalRequest, *, supersedes: UUID | None = None, superseded_reason: str = ""
) -> ApprovalRequest:
    """Store a pending request and commit it, whatever happens to the caller.

    Raises InsideTransactionError when the caller's transaction could take the request back, and ApprovalForbidden
    (human_required) when only a person may start this call.
    """
    if supersedes is not None:
        effect = request.effect or NO_EFFECT
        return supersede(supersedes, request=request, effect=effect, reason=superseded_reason)
    with durable():
        row, requested = store(request, request.effect, None, "")
        append_all([requested])
    return row
