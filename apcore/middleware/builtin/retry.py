"""Tries a failed call again (§8.6). Not installed by default: the framework never retries by itself."""

from __future__ import annotations

import logging
from collections.abc import Callable
from random import SystemRandom
from typing import Any, ClassVar, Final

from apcore.context import Context
from apcore.errors import ApprovalError, ErrorCodes, ModuleError, require_number
from apcore.middleware.base import Middleware, Retry

logger = logging.getLogger("apcore.middleware")

MAX_RETRIES: Final = 5
"""The most that §8.6 recommends, and the most that is accepted."""

_uniform: Callable[[float, float], float] = SystemRandom().uniform


class RetryMiddleware(Middleware):
    """Retries idempotent modules after errors that are marked as retryable, with growing pauses (§8.6).

    Before retry ``n`` (from 1) it waits ``base_delay_ms * factor ** (n - 1)``, at most ``max_delay_ms``, and up to
    ``jitter`` (0 to 1) of that less, so that many callers do not come back at once. An error that says
    ``details.retry_after_ms`` is given that time; if it is more than ``max_delay_ms`` the call is not retried.

    The executor agrees to no attempt that the call's deadline would cut off, none of a cancelled call, none under an
    approval and none after output has left. It keeps no state: the number of the attempt is ``context.attempt``.

    Raises InvalidInputError for values out of range: ``max_retries`` is 1 to 5.
    """

    id: ClassVar[str] = "retry"
    priority: int = 700
    can_retry: ClassVar[bool] = True

    def __init__(
        self,
        *,
        max_retries: int = 2,
        base_delay_ms: float = 100,
        factor: float = 2.0,
        max_delay_ms: float = 5_000,
        jitter: float = 0.25,
        uniform: Callable[[float, float], float] = _uniform,
    ) -> None:
        require_number("retry: max_retries", max_retries, 1, MAX_RETRIES, whole=True)
        require_number("retry: base_delay_ms", base_delay_ms, 0, 600_000)
        require_number("retry: factor", factor, 1, 100)
        require_number("retry: max_delay_ms", max_delay_ms, 0, 600_000)
        require_number("retry: jitter", jitter, 0, 1)
        self._max_retries = max_retries
        self._base_delay_ms = base_delay_ms
        self._factor = factor
        self._max_delay_ms = max_delay_ms
        self._jitter = jitter
        self._uniform = uniform

    def on_error(self, module_id: str, inputs: dict[str, Any], error: ModuleError, context: Context) -> Retry | None:
        """Ask for another attempt, or let the error go on."""
        number = context.attempt
        if number > self._max_retries or not _is_worth_it(module_id, error, context):
            return None
        delay_ms = self._delay_ms(number, error)
        if delay_ms is None:
            return None
        logger.warning(
            "%s failed with %s; attempt %d of %d in %d ms, trace %s",
            module_id,
            error.code,
            number + 1,
            self._max_retries + 1,
            delay_ms,
            context.trace_id,
        )
        return Retry(after=delay_ms / 1000)

    def _delay_ms(self, number: int, error: ModuleError) -> float | None:
        grown = min(self._base_delay_ms * self._factor ** (number - 1), self._max_delay_ms)
        delay = self._uniform(grown * (1 - self._jitter), grown)
        asked_for = error.details.get("retry_after_ms")
        if not isinstance(asked_for, int | float) or isinstance(asked_for, bool):
            return delay
        return None if asked_for > self._max_delay_ms else max(delay, float(asked_for))


def _is_worth_it(module_id: str, error: ModuleError, context: Context) -> bool:
    """Marked as retryable, of a module that may run twice, and not retried in vain by a call further in already."""
    if isinstance(error, ApprovalError) or set(error.details.get("attempts", ())) - {module_id}:
        return False
    definition = context.executor.registry.get_definition(module_id)
    if not definition.annotations.idempotent:
        return False
    # The table of §8.6 leaves MODULE_EXECUTE_ERROR to the annotation, which has been asked already.
    return error.retryable is True or (error.retryable is None and error.code == ErrorCodes.MODULE_EXECUTE_ERROR)
