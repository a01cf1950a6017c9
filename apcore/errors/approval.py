"""Errors of the approval gate (§7.5)."""

from __future__ import annotations

from typing import Any

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class ApprovalError(ModuleError):
    """Base of the approval errors; ``result`` is the complete ``ApprovalResult``, or None after ``from_dict()``."""

    code = ErrorCodes.APPROVAL_DENIED
    http_status = 403
    retryable = False
    default_message = "Approval failed"
    result: Any = None

    def __init__(self, result: Any = None, message: str = "", **fields: Any) -> None:
        super().__init__(message, **fields)
        self.result = result


class ApprovalDeniedError(ApprovalError):
    """The approval was refused."""

    code = ErrorCodes.APPROVAL_DENIED
    http_status = 403
    retryable = False
    default_message = "Approval denied"


class ApprovalTimeoutError(ApprovalError):
    """Nobody decided in time."""

    code = ErrorCodes.APPROVAL_TIMEOUT
    http_status = 408
    retryable = True
    default_message = "Approval timed out"


class ApprovalPendingError(ApprovalError):
    """The approval waits for somebody; retry with ``_approval_token`` once it is given."""

    code = ErrorCodes.APPROVAL_PENDING
    http_status = 202
    retryable = False
    default_message = "Approval pending"
