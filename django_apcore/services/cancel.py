"""Cancel: the requester or a decider withdraws a request before it is executed."""

from uuid import UUID

from django.contrib.auth.models import User

from apcore.context import Identity
from django_apcore.models import ApprovalRequest


def cancel(
    request_id: UUID | str, *, actor: User | None = None, identity: Identity | None = None, reason: str = ""
) -> ApprovalRequest:
    """Withdraw a request that is pending, or approved and not yet executed.

    The requester is recognised by `identity` or by `actor`; any other actor needs the right to decide. Raises
    ApprovalNotFound; ApprovalForbidden (not_the_requester); ApprovalConflict (already_decided, consumed).
    """
    raise NotImplementedError
