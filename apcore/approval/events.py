"""What the approval gate tells subscribers (§7.9)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from apcore.approval.types import ApprovalResult
from apcore.context import Context
from apcore.events import Event, core_event
from apcore.events.core import (
    APPROVAL_DENIED,
    APPROVAL_GRANTED,
    APPROVAL_PENDING,
    APPROVAL_REQUESTED,
    APPROVAL_TIMEOUT,
)

_EVENT_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "approved": APPROVAL_GRANTED,
        "rejected": APPROVAL_DENIED,
        "timeout": APPROVAL_TIMEOUT,
        "pending": APPROVAL_PENDING,
    }
)


def reports_itself(handler: Any) -> bool:
    """Whether a handler emits the approval events of its own requests, because it knows them better than the gate.

    One that keeps requests in a database says so with ``emits_events = True``: it can tell of a decision when it is
    made, which may be hours before the call comes back, and after the commit.
    """
    return bool(getattr(handler, "emits_events", False))


def requested(module_id: str, context: Context) -> Event:
    """A handler is about to be asked."""
    identity = context.identity
    data = {
        "module_id": module_id,
        "approval_id": None,
        "caller_id": context.caller_id,
        "requested_by": identity.id if identity is not None else None,
    }
    return core_event(APPROVAL_REQUESTED, data, trace_id=context.trace_id)


def answered(module_id: str, context: Context, result: ApprovalResult) -> Event:
    """A handler has answered; anything but the four statuses is a denial."""
    name = _EVENT_OF.get(result.status, APPROVAL_DENIED)
    data: dict[str, Any] = {"module_id": module_id, "approval_id": result.approval_id}
    if name in (APPROVAL_GRANTED, APPROVAL_DENIED):
        data["decided_by"] = result.approved_by
    return core_event(name, data, trace_id=context.trace_id)


def denied(module_id: str, context: Context) -> Event:
    """Nobody could be asked, or whoever was asked gave no answer that counts."""
    return answered(module_id, context, ApprovalResult("rejected"))
