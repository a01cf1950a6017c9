"""Errors about the call itself: cancelled, too deep, circular, too often (§8.2 EXECUTION_*, CALL_*)."""

from __future__ import annotations

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class ExecutionCancelledError(ModuleError):
    """The call was cancelled through its ``CancelToken``."""

    code = ErrorCodes.EXECUTION_CANCELLED
    http_status = 499
    retryable = True
    default_message = "Execution cancelled"


class CallDepthExceededError(ModuleError):
    """The call chain is longer than the limit."""

    code = ErrorCodes.CALL_DEPTH_EXCEEDED
    http_status = 508
    retryable = False
    default_message = "Call chain too deep"


class CircularCallError(ModuleError):
    """A module was called again through another module."""

    code = ErrorCodes.CIRCULAR_CALL
    http_status = 508
    retryable = False
    default_message = "Circular call"


class CallFrequencyExceededError(ModuleError):
    """The same module occurs too often in one call chain."""

    code = ErrorCodes.CALL_FREQUENCY_EXCEEDED
    http_status = 508
    retryable = False
    default_message = "Module called too often in one chain"
