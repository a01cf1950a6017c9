"""One call, from its first step to its end: attempts, recovery, and what is left when nobody waits (§8.6, §11.8)."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import Any

from apcore.approval import EffectDriftError
from apcore.context import Context
from apcore.errors import (
    ApprovalDeniedError,
    ExecutionCancelledError,
    ModuleError,
    PipelineStepError,
    propagate_error,
)
from apcore.errors.telling import places_of
from apcore.execution.retries import FIRST_STEP, Retrial, note_attempts, wait
from apcore.execution.settings import Limits
from apcore.execution.streaming import CALLER_CANCELLED, ConsumerLeft
from apcore.execution.windows import DeadlineInterrupt
from apcore.middleware import Retry
from apcore.pipeline import PipelineState, Strategy, run_pipeline

logger = logging.getLogger("apcore.execution")


class Performer:
    """Makes calls: runs the pipeline, and asks the middleware when a step failed."""

    __slots__ = ("_limits",)

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    async def perform(self, strategy: Strategy, state: PipelineState) -> dict[str, Any]:
        """The output. Raises ModuleError; middleware may recover, or have it tried again (§8.6, §11.8.1)."""
        retry: Retry | None = None
        try:
            while True:
                try:
                    if retry is None:
                        await run_pipeline(strategy, state)
                    else:
                        await wait(state, retry)
                        await run_pipeline(strategy, state, start=FIRST_STEP)
                    break
                except PipelineStepError as failure:
                    answer = await self._recover(strategy, state, failure)
                    if not isinstance(answer, Retry):
                        return answer
                    retry = answer
        except (GeneratorExit, ConsumerLeft, asyncio.CancelledError, DeadlineInterrupt):
            await self._abandon(state)
            raise
        output: dict[str, Any] = state.outputs if state.stopped and state.result is None else state.result
        return output

    async def _recover(
        self, strategy: Strategy, state: PipelineState, failure: PipelineStepError
    ) -> dict[str, Any] | Retry:
        """The fallback of a middleware, its wish for another attempt, or the step's own error (§8.3, C-15)."""
        original = failure.original
        context = getattr(state, "context", None)
        if context is None:
            context = state.parent if isinstance(state.parent, Context) else Context()
        if isinstance(original, EffectDriftError):
            original = ApprovalDeniedError(state.grant, "The effect is not the approved one; nothing was committed")
        if not isinstance(original, ModuleError):
            _log_unexpected(original, state.module_id, context)
        error = propagate_error(original, str(state.module_id), context)
        error.details.setdefault("step", failure.step)
        if state.passage is not None:
            retrial = Retrial(strategy, state, failure.step, context.deadline)
            self._leave_time_to_recover(context)
            fallback: dict[str, Any] | Retry | None = await state.passage.recover(error, state.runner, retrial.allows)
            if fallback is not None and state.chunks:
                logger.warning("A fallback for %s came after chunks had left, and is not used", state.module_id)
            elif fallback is not None:
                return fallback
            note_attempts(error, state)
        raise error

    async def _abandon(self, state: PipelineState) -> None:
        """Nobody waits for this call any more: what still runs for it is told to stop, and what its middleware began in
        ``before()`` has to end all the same."""
        state.cancel(CALLER_CANCELLED)
        if state.passage is not None:
            self._leave_time_to_recover(state.context)
            error = ExecutionCancelledError("Nobody waits for this call any more")
            await state.passage.abandon(propagate_error(error, state.module_id, state.context), state.runner)

    def _leave_time_to_recover(self, context: Context) -> None:
        """A call whose time is over still has its ``on_error()`` hooks to run (§11.8.4)."""
        if context.deadline is not None:
            context.deadline = max(context.deadline, monotonic() + self._limits.settings.grace_period / 1000)


def _log_unexpected(error: BaseException, module_id: str, context: Context) -> None:
    """Where it happened and what kind it was; neither its text nor source lines, which may hold secrets (§8.3)."""
    kind, places = type(error).__name__, places_of(error)
    logger.error("Module %s failed: %s, trace %s%s", module_id, kind, context.trace_id, places)
