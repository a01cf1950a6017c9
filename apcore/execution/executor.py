"""The executor: one call, one path (§12.2, DESIGN §4)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Generator, Iterable, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

from apcore.acl import ACL, ACLChecker, configured_acl
from apcore.approval import ApprovalHandler
from apcore.config import Config
from apcore.context import Context
from apcore.errors import (
    ConfigError,
    InvalidInputError,
    require,
)
from apcore.events import EventEmitter
from apcore.execution.deadlines import Deadlines
from apcore.execution.exporting import trace_to
from apcore.execution.measurement import EffectMeter
from apcore.execution.overruns import Overruns
from apcore.execution.parts import check_parts, checked_acl, checked_handler, limits_of, listed
from apcore.execution.performing import Performer
from apcore.execution.preflight import Preflight, PreflightResult
from apcore.execution.runners import AsyncRunner, SyncRunner, drive
from apcore.execution.settings import ExecutorSettings, Limits
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
from apcore.execution.streaming import awaited_chunks, paused_chunks
from apcore.execution.windows import HERE, Shielded, shielded
from apcore.middleware import MiddlewareEntry, MiddlewareManager
from apcore.pipeline import PipelineState, Runner, Step, Strategy
from apcore.pipeline.step import StepFunction
from apcore.redaction import DEFAULT_SENSITIVE_KEYS
from apcore.registry import Registry
from apcore.toggles import Toggles

logger = logging.getLogger("apcore.execution")


RunUntil = Callable[[PipelineState], bool]
OnResult = Callable[[dict[str, Any]], Any]
Proceed = Callable[[Strategy, PipelineState], Coroutine[Any, Any, Any]]
"""Makes the call, or the check, of a state by the steps of a strategy."""
RunnerFactory = Callable[[Deadlines], Runner]


class Executor:
    """Calls modules through the pipeline, from sync and from async code (§12.2).

    ``acl`` None checks nothing, ``approval_handler`` None asks nobody. ``config`` is an ExecutorSettings, a mapping of
    its fields, or a Config: then, without ``acl``, its access list counts, which denies by default (C-64).
    ``runners`` makes the sync and the async runner; a framework that has transactions brings its own.
    ``events`` is told of approvals (§7.9). ``sensitive_keys`` are the names that ``Context.redacted_inputs`` hides.
    Raises InvalidInputError for a part that is none, and ConfigError for limits out of range.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        acl: ACL | ACLChecker | None = None,
        approval_handler: ApprovalHandler | None = None,
        middlewares: Iterable[Any] | None = None,
        config: Config | ExecutorSettings | Mapping[str, Any] | None = None,
        toggles: Toggles | None = None,
        runners: tuple[RunnerFactory, RunnerFactory] = (SyncRunner, AsyncRunner),
        events: EventEmitter | None = None,
        sensitive_keys: Collection[str] = DEFAULT_SENSITIVE_KEYS,
    ) -> None:
        check_parts(registry, toggles, runners, events, sensitive_keys)
        self._limits = Limits(limits_of(config))
        self.registry = registry
        self._acl = configured_acl(config) if acl is None and isinstance(config, Config) else checked_acl(acl)
        self._approval_handler = checked_handler(approval_handler)
        self._events = events
        self.toggles = toggles if toggles is not None else Toggles()
        self._middleware = MiddlewareManager()
        self._rewrite = InputRewrite(sensitive_keys)
        self._sensitive_keys = sensitive_keys
        self._meter = EffectMeter(self._limits)
        self._performer = Performer(self._limits)
        overruns = Overruns(registry, self._limits)
        self._deadlines = Deadlines(self.settings.grace_period / 1000, overruns.describe)
        self._deadlines.start()
        self._sync_runner, self._async_runner = (make(self._deadlines) for make in runners)
        self._strategy = Strategy(self._steps())
        self._compose()
        for middleware in listed(middlewares):
            self.use(middleware)
        registry.extended.follow(self)

    def _steps(self) -> tuple[Step, ...]:
        limits, meter = self._limits, self._meter
        before = MiddlewareBefore(self._middleware, limits, self._sensitive_keys)
        gate = ApprovalGate(self._approval_handler, meter, self._events)
        return (
            Step("context_creation", ContextCreation(self).run, pure=True, native=True),
            Step("call_chain_guard", CallChainGuard(limits).run, pure=True, native=True),
            Step("module_lookup", ModuleLookup(self.registry, self.toggles).run, pure=True, native=True),
            Step("input_rewrite", self._rewrite.run, pure=True, native=True),
            Step("acl_check", AclCheck(self._acl).run, pure=True, native=True),
            Step("approval_gate", gate.run, pure=True, native=True),
            Step("middleware_before", before.run, native=True),
            Step("input_validation", validate_input, pure=True, native=True),
            Step("execute", Execute(limits, meter).run, native=True),
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
        if HERE.seat.window is not None:
            # A module calls another: the pipeline between the two is no place to interrupt either.
            with Shielded():
                state = PipelineState(module_id, inputs, context, self._sync_runner, run_until)
                return drive(self._run(self._strategy, state))
        state = PipelineState(module_id, inputs, context, self._sync_runner, run_until)
        return drive(self._run(self._strategy, state))

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
        call = self._run(self._strategy, state)
        return await (call if HERE.seat.window is None else shielded(call))

    async def stream(
        self,
        module_id: str,
        inputs: Mapping[str, Any] | None = None,
        context: Context | None = None,
        *,
        on_result: OnResult | None = None,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Call a module and yield its output in chunks as they come; their deep merge is the output (§12.2).

        Everything before the first chunk and after the last is as in ``call``; a module without ``stream()`` gives its
        output as one chunk. ``on_result`` is told the whole output, as the middleware left it. Closing the generator
        early ends the module where it stands, and nothing is committed. Raises ModuleError.
        """
        told = _told(on_result)
        state = PipelineState(module_id, inputs, context, self._async_runner, is_streaming=True)
        outputs: list[dict[str, Any]] = []
        call = self._run(self._strategy, state)
        async with aclosing(awaited_chunks(call, state.cancel, outputs.append)) as chunks:
            async for chunk in chunks:
                yield chunk
        for chunk in _rest(state, outputs[0], told):
            yield chunk

    def stream_sync(
        self,
        module_id: str,
        inputs: Mapping[str, Any] | None = None,
        context: Context | None = None,
        *,
        on_result: OnResult | None = None,
    ) -> Generator[dict[str, Any], None, None]:
        """Like ``stream``, for a plain ``for`` loop, on the caller's thread and in its transaction.

        A transaction that the module runs in stays open between two chunks: what this thread writes meanwhile is part
        of it.
        """
        told = _told(on_result)
        state = PipelineState(module_id, inputs, context, self._sync_runner, is_streaming=True)
        output = yield from paused_chunks(partial(self._run, self._strategy, state), state.cancel)
        yield from _rest(state, output, told)

    def validate(
        self, module_id: str, inputs: Mapping[str, Any] | None = None, context: Context | None = None
    ) -> PreflightResult:
        """Check a call and predict its changes without making it; failures are collected, not raised (§12.8)."""
        with Shielded():
            state = PipelineState(module_id, inputs, context, self._sync_runner, dry_run=True)
            return drive(self._inspect(self._strategy, state))  # type: ignore[no-any-return]  # a check makes a result

    async def validate_async(
        self, module_id: str, inputs: Mapping[str, Any] | None = None, context: Context | None = None
    ) -> PreflightResult:
        """Like ``validate``, from a coroutine."""
        state = PipelineState(module_id, inputs, context, self._async_runner, dry_run=True)
        return await shielded(self._inspect(self._strategy, state))

    # Wiring

    @property
    def settings(self) -> ExecutorSettings:
        """The limits that calls go by; see `use_settings()`."""
        return self._limits.settings

    def use_settings(self, settings: ExecutorSettings) -> None:
        """Go by other limits; a call that runs keeps the deadlines that it has."""
        require("settings", settings, ExecutorSettings, "ExecutorSettings")
        self._limits.settings = settings
        self._deadlines.grace = settings.grace_period / 1000

    def follow(self, config: Config) -> None:
        """Go by the limits of a configuration whenever other values come into force there."""
        require("config", config, Config, "a Config")
        self._config = config
        config.on_change(self._take_up)

    def _take_up(self) -> None:
        try:
            settings = ExecutorSettings.from_config(self._config)
        except ConfigError as error:
            logger.error("The limits of calls stay as they were: %s", error.message)
            return
        if settings != self.settings:
            self.use_settings(settings)

    @property
    def acl(self) -> ACL | ACLChecker | None:
        """Who may call what. Not assignable: that it is replaced can only be meant, see `use_acl()`."""
        return self._acl

    @property
    def approval_handler(self) -> ApprovalHandler | None:
        """Who is asked; not assignable either."""
        return self._approval_handler

    @property
    def strategy(self) -> Strategy:
        """The steps as they are now; calls that run keep the strategy that they started with."""
        return self._strategy

    @property
    def middleware(self) -> tuple[MiddlewareEntry, ...]:
        """What calls pass through, outermost first: ID, priority and object of each."""
        return self._middleware.entries

    def use(self, middleware: Any, *, id: str | None = None, priority: int | None = None) -> str:  # noqa: A002 - §11.2
        """Add a middleware and return its ID: the given one, its own, or one after the name of its class (§11.2).

        Raises InvalidInputError for an ID that is taken or reserved, a bad priority, and an object without hooks.
        """
        registered = self._middleware.add(middleware, id=id, priority=priority)
        self._compose()
        return registered

    def remove(self, id: str) -> Any:  # noqa: A002 - §11.2
        """Take out a middleware and return it. Raises InvalidInputError for an unknown or reserved ID (§11.4)."""
        removed = self._middleware.remove(id)
        self._compose()
        return removed

    def add_rewriter(self, rewriter: Rewriter) -> None:
        """Add ``rewriter(module_id, inputs, context) -> Rewrite | None``; rewriters are asked in this order.

        Raises InvalidInputError for what is no function.
        """
        if isinstance(rewriter, type) or not callable(rewriter):
            raise InvalidInputError(
                "A rewriter is a function of module_id, inputs and context, or an object that can be called, not "
                f"{rewriter!r}"
            )
        self._rewrite.rewriters = (*self._rewrite.rewriters, rewriter)

    def use_acl(self, acl: ACL | ACLChecker | None) -> None:
        """Put another access list in the place of the present one; calls that run keep theirs (§11.3)."""
        self._acl = checked_acl(acl)
        self.configure_step("acl_check", Step("acl_check", AclCheck(acl).run, pure=True, native=True))

    def use_approval_handler(self, handler: ApprovalHandler | None) -> None:
        """Have somebody else asked for approvals; calls that run keep whom they asked (§11.3)."""
        self._approval_handler = checked_handler(handler)
        gate = ApprovalGate(handler, self._meter, self._events)
        self.configure_step("approval_gate", Step("approval_gate", gate.run, pure=True, native=True))

    def extend(self, point: str, implementation: Any) -> None:
        """Put an implementation of an extension point into force (§11.3): middleware is added, others replace.

        Raises InvalidInputError for a point that is not one of an executor and for middleware whose ID is taken,
        ConfigError without OpenTelemetry's SDK.
        """
        if point == "acl":
            self.use_acl(implementation)
        elif point == "approval_handler":
            self.use_approval_handler(implementation)
        elif point == "span_exporter":
            trace_to(self, [implementation])
        elif point == "middleware":
            self.use(implementation)
        else:
            raise InvalidInputError(f"{point!r} is no extension point of an executor; a registry may have it (§11.3)")

    def use_strategy(self, strategy: Strategy) -> None:
        """Go by another strategy; calls that run keep theirs. Raises InvalidInputError if it lacks a step (§5.16)."""
        require("strategy", strategy, Strategy, "a Strategy")
        strategy.require_complete()
        self._strategy = strategy

    def configure_step(self, name: str, step: Step | StepFunction) -> None:
        """Replace a step in its place (§5.16.3). Raises InvalidInputError for an unknown name."""
        self._strategy = self._strategy.configure(name, step)

    def insert_step(self, step: Step, *, before: str | None = None, after: str | None = None) -> None:
        """Add a step next to another (§5.16). Raises InvalidInputError for a taken name or an unknown neighbour."""
        self._strategy = self._strategy.insert(step, before=before, after=after)

    def hook_step(self, name: str, *, before: StepFunction | None = None, after: StepFunction | None = None) -> None:
        """Add middleware around one step (§5.16.5). Raises InvalidInputError for an unknown name."""
        self._strategy = self._strategy.hook(name, before=before, after=after)

    # What a call is made of

    def _compose(self) -> None:
        """Put the ``around_call()`` hooks of the middleware around calls and checks; without any, nothing is there."""
        self._run: Proceed = self._performer.perform
        self._inspect: Proceed = self._preflight
        middlewares = [entry.middleware for entry in self._middleware.entries]
        for around in reversed([each.around_call for each in middlewares if hasattr(each, "around_call")]):
            self._run = partial(_around, around, self._run)
            self._inspect = partial(_around, around, self._inspect)

    def _preflight(self, strategy: Strategy, state: PipelineState) -> Coroutine[Any, Any, PreflightResult]:
        return Preflight(strategy, self._meter).run(state)


def _around(hook: Any, proceed: Proceed, strategy: Strategy, state: PipelineState) -> Coroutine[Any, Any, Any]:
    around: Coroutine[Any, Any, Any] = hook(strategy, state, proceed)
    return around


def _told(on_result: OnResult | None) -> OnResult | None:
    """Who is told the whole output. Raises InvalidInputError before anything runs for what nobody can tell."""
    if on_result is not None and not callable(on_result):
        raise InvalidInputError(f"on_result must be a function of the output, not {type(on_result).__name__}")
    return on_result


def _rest(state: PipelineState, output: dict[str, Any], on_result: OnResult | None) -> Iterator[dict[str, Any]]:
    """Whatever output did not leave in chunks, as one chunk."""
    if on_result is not None:
        on_result(output)
    if not state.chunks and (output or state.definition.stream is None):
        yield output
