"""Errors of the pipeline: a failing step, a failing middleware (§5.16, §11.5)."""

from __future__ import annotations

from typing import Any

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class MiddlewareChainError(ModuleError):
    """A middleware raised something that is not a ``ModuleError``."""

    code = ErrorCodes.MIDDLEWARE_CHAIN_ERROR
    http_status = 500
    retryable = False
    default_message = "Middleware failed"


class CircuitBreakerOpenError(ModuleError):
    """A module failed so often that it is left alone for a while; ``details.retry_after_ms`` says how long."""

    code = ErrorCodes.CIRCUIT_BREAKER_OPEN
    http_status = 503
    retryable = True
    default_message = "The module failed too often and is left alone for a while"


class PipelineStepError(ModuleError):
    """A step failed; what the pipeline engine raises, and what ``Executor`` unwraps again (§5.16.1).

    It speaks with the code, HTTP status and retryability of the original error.
    """

    default_message = "A pipeline step failed"

    def __init__(self, step: str, original: BaseException, **fields: Any) -> None:
        known = original if isinstance(original, ModuleError) else ModuleError(type(original).__name__)
        super().__init__(
            f"Step '{step}' failed: {known.message}",
            code=known.code,
            http_status=known.http_status,
            retryable=known.retryable,
            details={"step": step},
            cause=original,
            **fields,
        )
        self.step = step
        self.original = original

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.step, self.original), self.__dict__
