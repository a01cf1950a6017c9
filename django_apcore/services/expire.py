"""Expire: the time for a decision, or for the execution that was approved, is over."""

from uuid import UUID

from django_apcore.models import ApprovalRequest


def expire(request_id: UUID | str) -> ApprovalRequest:
    """Mark a request as expired if its time is over; leave every other request as it is. Raises ApprovalNotFound."""
    raise NotImplementedError


def expire_due() -> int:
    """Expire all requests whose time is over. Returns how many there were."""
    raise NotImplementedError
