"""The handler protocol and the built-in handlers (§7.2, §7.6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Protocol, runtime_checkable

from asgiref.sync import iscoroutinefunction, sync_to_async

from apcore.approval.types import ApprovalRequest, ApprovalResult
from apcore.errors import InvalidInputError


@runtime_checkable
class ApprovalHandler(Protocol):
    """Decides, or has a human decide (§7.2). Both methods may be sync or async; the executor bridges them.

    Who inherits from it and cannot resume a decision later need not write ``check_approval``: the default rejects.
    """

    def request_approval(self, request: ApprovalRequest) -> ApprovalResult | Awaitable[ApprovalResult]:
        """Ask for a decision; ``pending`` with an ``approval_id`` when it comes later (§7.8)."""
        ...

    def check_approval(self, approval_id: str) -> ApprovalResult | Awaitable[ApprovalResult]:
        """The present state of a pending decision (§7.2); by default there is none, and this rejects."""
        return nothing_pending(approval_id)


@runtime_checkable
class BoundApprovalHandler(Protocol):
    """A handler that checks that a token is used for the very call it was given for."""

    def check_approval_for(
        self, approval_id: str, request: ApprovalRequest
    ) -> ApprovalResult | Awaitable[ApprovalResult]:
        """Like ``check_approval``, told which call presents the token; the executor prefers it."""
        ...


class AlwaysDenyHandler:
    """Rejects everything (§7.6)."""

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        """Reject."""
        return ApprovalResult("rejected", reason="No approver is configured; every request is denied")

    async def check_approval(self, approval_id: str) -> ApprovalResult:
        """Reject."""
        return ApprovalResult("rejected", approval_id=approval_id, reason="No approver is configured")


class AutoApproveHandler:
    """Approves everything: for tests and development only (§7.6)."""

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        """Approve."""
        return ApprovalResult("approved", approved_by="auto_approve")

    async def check_approval(self, approval_id: str) -> ApprovalResult:
        """Approve."""
        return ApprovalResult("approved", approved_by="auto_approve", approval_id=approval_id)


class CallbackApprovalHandler:
    """Hands the decision to a callback, sync or async; it cannot resume pending requests (§7.6).

    Raises InvalidInputError for what cannot be called.
    """

    def __init__(self, callback: Callable[[ApprovalRequest], ApprovalResult | Awaitable[ApprovalResult]]) -> None:
        if isinstance(callback, type) or not callable(callback):
            raise InvalidInputError(f"The callback of an approval must be a function of the request, not {callback!r}")
        self._callback = callback

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        """Whatever the callback says; a sync one runs where sync code belongs, not on the event loop."""
        if iscoroutinefunction(self._callback):
            answer: Any = self._callback(request)
        else:
            answer = await sync_to_async(self._callback, thread_sensitive=True)(request)
        result: ApprovalResult = await answer if isawaitable(answer) else answer
        return result

    async def check_approval(self, approval_id: str) -> ApprovalResult:
        """Reject: this handler remembers nothing (§7.2)."""
        return await nothing_pending(approval_id)


async def nothing_pending(approval_id: str) -> ApprovalResult:
    """The answer of a handler that cannot resume a decision: it rejects (§7.2)."""
    return ApprovalResult("rejected", approval_id=approval_id, reason="This handler keeps no pending requests")
