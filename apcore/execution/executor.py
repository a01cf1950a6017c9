"""The executor: one call, one path (§12.2, DESIGN §4)."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import Any, NoReturn

from apcore.acl import ACL
from apcore.approval import ApprovalHandler, EffectDriftError
from apcore.context import Context
from apcore.errors import ApprovalDeniedError, ModuleError, PipelineStepError, propagate_error
from apcore.execution.deadlines import Deadlines
from apcore.execution.measurement import EffectMeter
from apcore.execution.preflight import Preflight, PreflightResult
from apcore.execution.runners import AsyncRunner, SyncRunner, drive
from apcore.execution.settings import ExecutorSettings
from apcore.execution.steps import (
    AclCheck,
    ApprovalGate,
    CallChainGuard,
    ContextCreation,
    Execute,
    InputRewrite,
    MiddlewareAfter,
    MiddlewareBefore,
    ModuleLookup,
    return_result,
    validate_input,
    validate_output,
)
from apcore.execution.steps.input_rewrite import Rewriter
from apcore.middleware import MiddlewareChain
from apcore.pipeline import PipelineState, Runner, Step, Strategy, run_pipeline
from apcore.pipeline.step import StepFunction
from apcore.registry import Registry
from apcore.toggles import Toggles

logger = logging.getLogger("apcore.execution")

_LOGGED_FRAMES = 10

RunUntil = Callable[[PipelineState], bool]
RunnerFactory = Callable[[Deadlines], Runner]


class Executor:
    """Calls modules through the pipeline, from sync and from async code (§12.2).

    ``acl`` None checks nothing, ``approval_handler`` None asks nobody. ``config`` is an ExecutorSettings or a mapping
    of its fields. ``runners`` makes the sync and the async runner; a framework that has transactions brings its own.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        acl: ACL | None = None,
        approval_handler: ApprovalHandler | None = None,
        middlewares: Iterable[Any] = (),
        config: ExecutorSettings | Mapping[str, Any] | None = None,
        toggles: Toggles | None = None,
        runners: tuple[RunnerFactory, RunnerFactory] = (SyncRunner, AsyncRunner),
    ) -> None:
        self.registry = registry
        self._acl = acl
        self._approval_handler = approval_handler
        self.toggles = toggles if toggles is not None else Toggles()
        self.settings = config if isinstance(config, ExecutorSettings) else ExecutorSettings.from_mapping(config or {})
        self._chain = MiddlewareChain()
        self._rewrite = InputRewrite()
        self._meter = EffectMeter(self.settings)
        deadlines = Deadlines(grace=self.settings.grace_period / 1000)
        deadlines.start()
        self._sync_runner, self._async_runner = (make(deadlines) for make in runners)
        self._strategy = Strategy(self._steps())
        for middleware in middlewares:
            self.use(middleware)

    def _steps(self) -> tuple[Step, ...]:
        settings, meter = self.settings, self._meter
        return (
            Step("context_creation", ContextCreation(self).run, pure=True, native=True),
            Step("call_chain_guard", CallChainGuard(settings).run, pure=True, native=True),
            Step("module_lookup", ModuleLookup(self.registry, self.toggles).run, pure=True, native=True),
            Step("input_rewrite", self._rewrite.run, pure=True, native=True),
            Step("acl_check", AclCheck(self._acl).run, pure=True, native=True),
            Step("approval_gate", ApprovalGate(self._approval_handler, meter).run, pure=True, native=True),
            Step("middleware_before", MiddlewareBefore(self._chain, settings).run, native=True),
            Step("input_validation", validate_input, pure=True, native=True),
            Step("execute", Execute(settings, meter).run, native=True),
            Step("output_validation", validate_output, native=True),
            Step("middleware_after", MiddlewareAfter().run, native=True),
            Step("return_result", return_result, native=True),
        )

    # Calling

    def call(
        self,
        module_id: str,
        inputs: Mapping[str, Any] | None = None,
        context: Context | None = None,
        *,
        run_until: RunUntil | None = None,
    ) -> dict[str, Any]:
        """Call a module and return its output, on the caller's thread and in its transaction (§12.2).

        ``run_until(state)`` ends the pipeline after the step for which it returns true (§5.16.4); the result is then
        what the steps so far made: the module's output if it ran, else the outputs by step name. Raises ModuleError.
        """
        return drive(self._perform(PipelineState(module_id, inputs, context, self._sync_runner, run_until)))

    async def call_async(
        self,
        module_id: str,
        inputs: Mapping[str, Any] | None = None,
        context: Context | None = None,
        *,
        run_until: RunUntil | None = None,
    ) -> dict[str, Any]:
        """Like ``call``, from a coroutine. Cancelling its task also sets the cancel token, for modules in a thread."""
        state = PipelineState(module_id, inputs, context, self._async_runner, run_until)
        try:
            return await self._perform(state)
        except asyncio.CancelledError:
            state.cancel("the caller was cancelled")
            raise

    def validate(
        self, module_id: str, inputs: Mapping[str, Any] | None = None, context: Context | None = None
    ) -> PreflightResult:
        """Check a call and predict its changes without making it; failures are collected, not raised (§12.8)."""
        return drive(self._preflight(module_id, inputs, context, self._sync_runner))

    async def validate_async(
        self, module_id: str, inputs: Mapping[str, Any] | None = None, context: Context | None = None
    ) -> PreflightResult:
        """Like ``validate``, from a coroutine."""
        return await self._preflight(module_id, inputs, context, self._async_runner)

    # Wiring

    @property
    def acl(self) -> ACL | None:
        """Who may call what. Not assignable: its rules can be replaced, the list itself cannot."""
        return self._acl

    @property
    def approval_handler(self) -> ApprovalHandler | None:
        """Who is asked; not assignable either."""
        return self._approval_handler

    @property
    def strategy(self) -> Strategy:
        """The steps as they are now; calls that run keep the strategy that they started with."""
        return self._strategy

    def use(self, middleware: Any, *, priority: int | None = None) -> None:
        """Add a middleware (§11.2). Raises InvalidInputError for a bad priority or an object without hooks."""
        self._chain.add(middleware, priority=priority)

    def add_rewriter(self, rewriter: Rewriter) -> None:
        """Add ``rewriter(module_id, inputs, context) -> Rewrite | None``; rewriters are asked in this order."""
        self._rewrite.rewriters = (*self._rewrite.rewriters, rewriter)

    def configure_step(self, name: str, step: Step | StepFunction) -> None:
        """Replace a step in its place (§5.16.3). Raises InvalidInputError for an unknown name."""
        self._strategy = self._strategy.configure(name, step)

    def insert_step(self, step: Step, *, before: str | None = None, after: str | None = None) -> None:
        """Add a step next to another (§5.16). Raises InvalidInputError for a taken name or an unknown neighbour."""
        self._strategy = self._strategy.insert(step, before=before, after=after)

    def hook_step(self, name: str, *, before: StepFunction | None = None, after: StepFunction | None = None) -> None:
        """Add middleware around one step (§5.16.5). Raises InvalidInputError for an unknown name."""
        self._strategy = self._strategy.hook(name, before=before, after=after)

    # One call

    async def _perform(self, state: PipelineState) -> dict[str, Any]:
        try:
            await run_pipeline(self._strategy, state)
        except PipelineStepError as failure:
            return await self._recover(state, failure)
        output: dict[str, Any] = state.outputs if state.stopped and state.result is None else state.result
        return output

    async def _recover(self, state: PipelineState, failure: PipelineStepError) -> dict[str, Any]:
        """The fallback of a middleware, or the step's own error, which is what callers get (§8.3, C-15)."""
        original = failure.original
        context = getattr(state, "context", None)
        if context is None:
            _raise(original, failure.step)
        if isinstance(original, EffectDriftError):
            original = ApprovalDeniedError(state.grant, "The effect is not the approved one; nothing was committed")
        if not isinstance(original, ModuleError):
            _log_unexpected(original, state.module_id, context)
        error = propagate_error(original, state.module_id, context)
        if state.passage is not None:
            self._leave_time_to_recover(context)
            fallback: dict[str, Any] | None = await state.passage.recover(error)
            if fallback is not None:
                return fallback
        return _raise(error, failure.step)

    def _leave_time_to_recover(self, context: Context) -> None:
        """A call whose time is over still has its ``on_error()`` hooks to run (§11.8.4)."""
        if context.deadline is not None:
            context.deadline = max(context.deadline, monotonic() + self.settings.grace_period / 1000)

    async def _preflight(
        self, module_id: str, inputs: Mapping[str, Any] | None, context: Context | None, runner: Runner
    ) -> PreflightResult:
        state = PipelineState(module_id, inputs, context, runner, dry_run=True)
        return await Preflight(self._strategy, self._meter).run(state)


def _raise(error: BaseException, step: str) -> NoReturn:
    if isinstance(error, ModuleError):
        error.details.setdefault("step", step)
    raise error


def _log_unexpected(error: BaseException, module_id: str, context: Context) -> None:
    """Where it happened and what kind it was; neither its text nor source lines, which may hold secrets (§8.3)."""
    frames = traceback.extract_tb(error.__traceback__, limit=-_LOGGED_FRAMES)
    places = "".join(f"\n  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)
    logger.error("Module %s failed: %s, trace %s%s", module_id, type(error).__name__, context.trace_id, places)
