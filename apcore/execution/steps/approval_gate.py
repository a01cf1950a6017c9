"""Step 5: does a human have to sign, and has one (§7.4)?"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, NoReturn

from apcore.approval import ApprovalHandler, ApprovalRequest, ApprovalResult, BoundApprovalHandler
from apcore.approval.events import answered, denied, reports_itself, requested
from apcore.approval.handlers import nothing_pending
from apcore.context import Context, pass_on_cancellation
from apcore.effects import EffectRecord
from apcore.errors import (
    ApprovalDeniedError,
    ApprovalPendingError,
    ApprovalTimeoutError,
    InvalidInputError,
    ModuleError,
    ModuleExecuteError,
    PipelineStepError,
    require,
)
from apcore.events import Event, EventEmitter
from apcore.execution.measurement import EffectMeter
from apcore.execution.runners import complete, drive
from apcore.execution.steps.context_creation import take_token
from apcore.modules import ModuleAnnotations
from apcore.modules.callables import given
from apcore.pipeline import Invocation, PipelineState
from apcore.schema import canonical_json

logger = logging.getLogger("apcore.approval")

RESUMED_NOTE = "_apcore.approval.resumed"
"""The key in ``context.data`` that tells middleware of a resumed call which approval it runs under (C-65)."""

Call = Callable[..., Awaitable[Any]]
"""Calls a function and waits for what it gives, as `Runner.call()` does."""


class ApprovalGate:
    """Asks the handler, or checks the token that the caller brings."""

    def __init__(self, handler: ApprovalHandler | None, meter: EffectMeter, events: EventEmitter | None = None) -> None:
        self._handler = handler
        self._meter = meter
        self._events = events
        self._tells = not reports_itself(handler)

    def run(self, state: PipelineState) -> Coroutine[Any, Any, None] | None:
        """None for a call that needs no signature, and for one that nobody can sign and no rewriter asked about."""
        if not state.needs_approval or (self._handler is None and state.approval_asked is None):
            return None
        return self._sign(state)

    async def _sign(self, state: PipelineState) -> None:
        """Raises ApprovalDeniedError, ApprovalTimeoutError or ApprovalPendingError; whatever is unclear is a denial."""
        handler = self._handler
        if handler is None:
            if not state.dry_run:
                await self._tell(state, denied(state.module_id, state.context))
            reason = f"An approval is needed ({state.approval_asked}) and no handler can give it"
            raise ApprovalDeniedError(None, reason)
        if state.dry_run:
            _copy_to_show(state.inputs)
            return
        _validate(state)
        # What is shown and what will run are copied before anybody is asked: neither the caller nor the handler can
        # change one of them afterwards.
        sealed = _copy_to_show(state.inputs)
        state.inputs = copy.deepcopy(sealed)
        result = await self._result(handler, state)
        if result.status != "approved":
            _refuse(result)
        state.grant = result
        state.inputs, state.sealed_inputs = copy.deepcopy(sealed), sealed

    async def _result(self, handler: ApprovalHandler, state: PipelineState) -> ApprovalResult:
        invocation = state.invocation()
        try:
            if state.token is None:
                result = await self._ask(handler, state, invocation)
            else:
                result = await _check(state.runner.call, handler, state.token, invocation.approval_request(None))
        except ApprovalDeniedError as error:
            if self._tells or error.result is None:  # without a result there was no answer, and nobody else tells
                await self._tell(state, denied(state.module_id, state.context))
            raise
        if self._tells:
            await self._tell(state, answered(state.module_id, state.context, result))
        return result

    async def _ask(self, handler: ApprovalHandler, state: PipelineState, invocation: Invocation) -> ApprovalResult:
        effect = await self._measured(state, invocation)
        if self._tells:
            await self._tell(state, requested(state.module_id, state.context))
        result = await _answer(
            state.runner.call, state.context, handler.request_approval, invocation.approval_request(effect)
        )
        return _bound_to(effect, result)

    async def _measured(self, state: PipelineState, invocation: Invocation) -> EffectRecord:
        """The effect. A module that fails while it is measured fails as it would at its own step, and says so."""
        try:
            return await self._meter.measure(state.runner, invocation)
        except Exception as error:
            raise PipelineStepError("execute", error) from error

    async def _tell(self, state: PipelineState, event: Event) -> None:
        if self._events is not None and self._events.has_subscribers:
            await state.runner.call(self._events.emit, event)


def approval_gate(
    module: Any, arguments: Mapping[str, Any] | None, context: Context, approval_handler: ApprovalHandler | None
) -> dict[str, Any]:
    """The gate by itself, for a call that no executor makes: the arguments with which it may go on (§7.4, step 5).

    They are without ``_approval_token``, and a copy of what was shown. ``module`` is a `ModuleDefinition` or a module;
    its ID is the last one of the call chain where it has none. No effect is measured and no schema looked at: those are
    steps of an executor.

    Raises ApprovalDeniedError, also for a handler that fails; ApprovalTimeoutError, ApprovalPendingError;
    InvalidInputError for arguments that are no object of JSON values, for no Context, and for unreadable annotations.
    """
    require("context", context, Context, "a Context")
    own, token = take_token(arguments)
    try:
        annotations = given(module, "annotations")
    except ValueError as error:
        raise InvalidInputError("Whether the module needs a signature cannot be read") from error
    if isinstance(annotations, Mapping):
        annotations = ModuleAnnotations.from_dict(annotations)
    if approval_handler is None or annotations is None or not annotations.requires_approval:
        return own
    shown = _copy_to_show(own)
    own = copy.deepcopy(shown)  # what the caller still holds may change until somebody has decided
    request = ApprovalRequest(
        getattr(module, "module_id", None) or (context.call_chain[-1] if context.call_chain else ""),
        shown,
        context,
        annotations,
        getattr(module, "description", None),
        list(getattr(module, "tags", None) or ()),
    )
    if token is None:
        answer = _answer(_complete, context, approval_handler.request_approval, request)
    else:
        answer = _check(_complete, approval_handler, token, request)
    result = drive(answer)
    if result.status != "approved":
        _refuse(result)
    return own


async def _complete(function: Callable[..., Any], *arguments: Any) -> Any:
    return complete(function, *arguments)


def _validate(state: PipelineState) -> None:
    """Nobody is asked about inputs that do not fit. Raises SchemaValidationError, which names the step of inputs."""
    try:
        state.definition.input_validator.validate(state.inputs)
    except ModuleError as error:
        error.details["step"] = "input_validation"
        raise


def _copy_to_show(inputs: Any) -> Any:
    """A copy of inputs. Raises InvalidInputError for those that nobody can be shown, as they have no JSON form."""
    try:
        canonical_json(inputs)
        return copy.deepcopy(inputs)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            "A call that needs an approval takes JSON values only: the inputs hold something else", user_fixable=True
        ) from error


async def _check(call: Call, handler: ApprovalHandler, token: str, request: ApprovalRequest) -> ApprovalResult:
    context = request.context
    context.data[RESUMED_NOTE] = token
    if isinstance(handler, BoundApprovalHandler):
        return await _answer(call, context, handler.check_approval_for, token, request)
    return await _answer(call, context, getattr(handler, "check_approval", nothing_pending), token)


async def _answer(call: Call, context: Context, ask: Any, *arguments: Any) -> ApprovalResult:
    """The handler's answer; an error of the handler, or something that is no answer, denies.

    What it says in the protocol's own errors counts as said, unless it is that something called by it failed.
    """
    try:
        result = await call(ask, *arguments)
    except (Exception, asyncio.CancelledError) as error:
        pass_on_cancellation(error)
        if isinstance(error, ModuleError) and not isinstance(error, ModuleExecuteError):
            raise
        logger.error("The approval handler failed (%s), trace %s", type(error).__name__, context.trace_id)
        raise ApprovalDeniedError(None, "The approval handler failed; the call is denied", cause=error) from error
    if not isinstance(result, ApprovalResult):
        raise ApprovalDeniedError(None, f"The approval handler returned {type(result).__name__}, no ApprovalResult")
    return result


def _bound_to(effect: EffectRecord, result: ApprovalResult) -> ApprovalResult:
    """An approval given on the spot holds for the effect that was shown, unless the handler said for which."""
    if effect.provenance == "none" or result.effect_digest is not None:
        return result
    return replace(result, metadata={**(result.metadata or {}), "effect_digest": effect.digest})


def _refuse(result: ApprovalResult) -> NoReturn:
    told = {**(result.metadata or {}), "approval_id": result.approval_id, "reason": result.reason}
    details = {key: value for key, value in told.items() if value is not None and key != "step"}
    if result.status == "pending":
        raise ApprovalPendingError(result, "The call waits for an approval", details=details)
    if result.status == "timeout":
        raise ApprovalTimeoutError(result, result.reason or "Nobody decided in time", details=details)
    raise ApprovalDeniedError(result, result.reason or "The approval was denied", details=details)
