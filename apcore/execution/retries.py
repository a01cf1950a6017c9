"""When a call may be tried once more, and what happens in between (§8.6, §11.1)."""

from __future__ import annotations

import logging
from time import monotonic
from typing import Final

from apcore.errors import ExecutionCancelledError, ModuleError, PipelineStepError
from apcore.execution.timed import DEADLINE_PASSED
from apcore.middleware import Retry
from apcore.pipeline import PipelineState, Strategy

logger = logging.getLogger("apcore.execution")

MAX_ATTEMPTS: Final = 6
"""The first and five more, whatever a middleware asks for (§8.6)."""

FIRST_STEP: Final = "middleware_before"
"""Where another attempt begins; access check and approval hold for all attempts."""


class Retrial:
    """Decides about another attempt of one failed call: only where the first one left nothing behind.

    ``limit`` is the deadline of the chain (monotonic seconds), without the time that ``on_error()`` hooks are given.
    """

    __slots__ = ("_failed_step", "_limit", "_state", "_strategy")

    def __init__(self, strategy: Strategy, state: PipelineState, failed_step: str, limit: float | None) -> None:
        self._strategy = strategy
        self._state = state
        self._failed_step = failed_step
        self._limit = limit

    async def allows(self, retry: Retry) -> bool:
        """Whether the call runs again; if so it is prepared for it, and if not the log says why."""
        reason = self._objection(retry)
        if reason is None and not await self._state.runner.can_run_again():
            reason = "the transaction around it is broken"
        if reason is not None:
            logger.info("%s is not tried again: %s", self._state.module_id, reason)
            return False
        self._prepare()
        return True

    def _objection(self, retry: Retry) -> str | None:
        state, token = self._state, self._state.context.cancel_token
        if state.grant is not None:
            return "the approval covers one execution"
        if state.chunks:
            return "chunks of its output have left"
        if self._failed_step in {step.name for step in self._strategy.after}:
            return "the module has run, and what it did is done"
        if state.context.attempt >= MAX_ATTEMPTS:
            return f"it was tried {MAX_ATTEMPTS} times"
        if self._limit is not None and monotonic() + retry.after >= self._limit:
            return "its deadline would pass before"
        if token is not None and (token.reason not in (None, DEADLINE_PASSED) or token.renewed().is_cancelled):
            return "it was cancelled"
        return None

    def _prepare(self) -> None:
        context = self._state.context
        context.attempt += 1
        context.deadline = self._limit
        if context.cancel_token is not None:
            context.cancel_token = context.cancel_token.renewed()
        self._state.result = None


async def wait(state: PipelineState, retry: Retry) -> None:
    """Let pass what the middleware asked for. Raises PipelineStepError when the call is cancelled meanwhile."""
    token = state.context.cancel_token
    await state.runner.pause(retry.after, token)
    if token is not None and token.is_cancelled:
        cancelled = ExecutionCancelledError(f"Cancelled while waiting for another attempt: {token.reason}")
        raise PipelineStepError(FIRST_STEP, cancelled)


def note_attempts(error: ModuleError, state: PipelineState) -> None:
    """Tell the caller how often it was tried, per module: ``details.attempts``."""
    if state.context.attempt > 1:
        error.details["attempts"] = {**error.details.get("attempts", {}), state.module_id: state.context.attempt}
