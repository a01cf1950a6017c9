"""Request: store a call that needs a decision, with the effect that was measured for it."""

from uuid import UUID

from apcore import approval
from django_apcore.models import ApprovalRequest


def open_request(
    request: approval.ApprovalRequest, *, supersedes: UUID | None = None, superseded_reason: str = ""
) -> ApprovalRequest:
    """Store a pending request and commit it, whatever happens to the caller.

    Raises InsideTransactionError when the caller's transaction could take the request back, and ApprovalForbidden
    (human_required) when only a person may start this call.
    """
    raise NotImplementedError
