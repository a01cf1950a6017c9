"""Walks the steps of a strategy: fail-fast, with one unit that commits together (§5.16)."""

from __future__ import annotations

import asyncio
import logging
from types import CoroutineType
from typing import Any

from apcore.context import pass_on_cancellation
from apcore.errors import InvalidInputError, ModuleExecuteError, PipelineStepError
from apcore.pipeline.runner import Runner
from apcore.pipeline.state import PipelineState
from apcore.pipeline.step import Step
from apcore.pipeline.strategy import Strategy

logger = logging.getLogger("apcore.pipeline")


async def run_pipeline(strategy: Strategy, state: PipelineState, *, start: str | None = None) -> None:
    """Run all steps, or those from ``start`` on.

    Raises PipelineStepError naming the step that failed and carrying its error (§5.16.1).

    The middle part runs inside ``runner.execute``, so that a failure in it, or a late result, commits nothing.
    """
    before = strategy.before if start is None else strategy.before[strategy.before.index(strategy[start]) :]
    await _run_steps(before, state)
    if strategy.together and not state.stopped:
        await _run_together(strategy.together, state)
    if strategy.after and not state.stopped:
        await _run_steps(strategy.after, state)


async def _run_together(steps: tuple[Step, ...], state: PipelineState) -> None:
    before = state.result

    async def body(runner: Runner) -> Any:
        if state.chunks:
            raise PipelineStepError(steps[0].name, _cannot_run_again())
        state.result = before  # without that of a run that was undone
        outer, state.runner = state.runner, runner
        try:
            await _run_steps(steps, state)
        finally:
            state.runner = outer
        return state.result

    try:
        await state.runner.execute(state.invocation(), body)
    except PipelineStepError:
        raise
    except Exception as error:
        raise PipelineStepError(steps[0].name, error) from error


def _cannot_run_again() -> ModuleExecuteError:
    """For a transaction that another one got in the way of: the consumer has chunks of the run that was undone."""
    message = (
        "Another transaction got in the way after chunks had left; nothing was committed, the call can be repeated"
    )
    return ModuleExecuteError(message, retryable=True)


async def _run_steps(steps: tuple[Step, ...], state: PipelineState) -> None:
    is_watched = state.run_until is not None
    for step in steps:
        state.step_name = step.name
        try:
            output = step.begin(state)
            if output is not None and type(output) is CoroutineType:
                output = await output
        except (Exception, asyncio.CancelledError) as error:
            pass_on_cancellation(error)
            if not step.ignore_errors:
                if isinstance(error, PipelineStepError):
                    raise  # it says at which step it belongs
                raise PipelineStepError(step.name, error) from error
            logger.warning("Step %r failed and is configured to be ignored (%s)", step.name, type(error).__name__)
            continue
        if is_watched:
            state.outputs[step.name] = output
            if _is_enough(state, step):
                state.stopped = True
                return


def _is_enough(state: PipelineState, step: Step) -> bool:
    """What the caller's predicate says; its failure is one of the step after which it was asked."""
    predicate: object = state.run_until
    if not callable(predicate):
        wrong = InvalidInputError(f"run_until must be a function of the state, not {type(predicate).__name__} (§5.16)")
        raise PipelineStepError(step.name, wrong)
    try:
        return bool(predicate(state))
    except Exception as error:
        raise PipelineStepError(step.name, error) from error
