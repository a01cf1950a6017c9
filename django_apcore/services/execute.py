"""Execute: a worker runs what was approved."""

from datetime import timedelta
from uuid import UUID

from django_apcore.models import ApprovalRequest


def execute_approved(request_id: UUID | str) -> ApprovalRequest:
    """Run an approved call with the identity, chain and inputs it was asked for with, and return the request after it.

    Safe to call any number of times and from several processes: whoever consumes the approval executes, the others
    return. Drift opens a superseding request; an error of the module marks the request as failed. Raises
    ApprovalNotFound.
    """
    raise NotImplementedError


def enqueue(request_id: UUID | str) -> None:
    """Ask a worker to execute. A broker that is away is logged: `dispatch_approved` makes up for it."""
    raise NotImplementedError


def dispatch_approved(*, older_than: timedelta = timedelta(0)) -> int:
    """Enqueue every request that is approved, not consumed, and meant for a worker. Returns how many there were.

    The database is the queue of record: this runs when a worker starts and from beat, so a lost message loses nothing.
    """
    raise NotImplementedError
