"""Step 8: the module runs (§12.7.5). Plans and claims are compared with what was approved before anything happens."""

from __future__ import annotations

import copy
import hmac
from contextlib import aclosing
from threading import get_ident
from types import CoroutineType
from typing import Any

from apcore.approval import EffectDriftError
from apcore.effects import NO_EFFECT, EffectRecord
from apcore.errors import ModuleExecuteError
from apcore.execution.measurement import EffectMeter, planned_effect
from apcore.execution.merging import MergedChunks
from apcore.execution.settings import Limits
from apcore.execution.streaming import hand_out
from apcore.execution.timed import DEADLINE_PASSED
from apcore.modules.activity import LEAVING, refuse
from apcore.modules.definition import Function
from apcore.pipeline import PipelineState


class Execute:
    """Runs ``execute()``, ``stream()`` or ``apply()`` of a checked plan, until the module's deadline."""

    def __init__(self, limits: Limits, meter: EffectMeter) -> None:
        self._limits = limits
        self._meter = meter

    async def run(self, state: PipelineState) -> Any:
        """Raises ModuleTimeoutError past the deadline, EffectDriftError when the approved effect is not this one, and
        ModuleNotFoundError when the module is being unloaded (§12.7.4). A call that was cancelled before its module
        began raises ExecutionCancelledError; one that is late may still call others while it ends.
        """
        definition, token = state.definition, state.context.cancel_token
        if token is not None and token.reason not in (None, DEADLINE_PASSED):
            token.check()
        if state.sealed_inputs is not None:
            # Exactly what was approved, also when a transaction that another one got in the way of runs again.
            state.inputs = copy.deepcopy(state.sealed_inputs)
        activity = definition.activity
        activity[state] = get_ident()  # before the look for LEAVING; see Activity
        try:
            if LEAVING in activity:
                refuse(definition.module_id)
            function, argument = definition.execute, state.inputs
            if state.grant is not None and state.grant.effect_digest is not None:
                function, argument = await self._as_approved(state, state.grant.effect_digest)
            context = state.context
            deadline = self._limits.settings.module_deadline(definition.timeout_ms, context.deadline)
            if state.is_streaming and definition.stream is not None and function is definition.execute:
                state.result = await self._stream(state, definition.stream, deadline)
            else:
                result = state.runner.call_within(deadline, context, function, argument, context)
                state.result = await result if type(result) is CoroutineType else result
        finally:
            del activity[state]
        return state.result

    async def _stream(self, state: PipelineState, stream: Function, deadline: float | None) -> dict[str, Any]:
        """Hand out what ``stream()`` yields, chunk by chunk, and return what it adds up to (§12.2)."""
        limits = self._limits.settings
        merged = MergedChunks(limits.max_merge_depth, limits.max_stream_bytes)
        async with aclosing(
            state.runner.iterate(deadline, state.context, stream, state.inputs, state.context)
        ) as chunks:
            async for chunk in chunks:
                merged.add(_checked(chunk, state))
                state.chunks += 1
                await hand_out(chunk)
        return merged.value

    async def _as_approved(self, state: PipelineState, expected: str) -> tuple[Function, Any]:
        """What to call with which argument, when the effect is still the approved one."""
        definition, invocation = state.definition, state.invocation()
        if definition.effect == "planned" and definition.apply is not None:
            plan = await self._meter.plan(state.runner, invocation)
            _require(planned_effect(plan, invocation.secrets), expected)
            return definition.apply, plan
        if definition.effect == "declared":
            _require(await self._meter.measure(state.runner, invocation), expected)
        elif definition.effect == "none":
            _require(NO_EFFECT, expected)
        return definition.execute, state.inputs


def _checked(chunk: Any, state: PipelineState) -> dict[str, Any]:
    if isinstance(chunk, dict):
        return chunk
    raise ModuleExecuteError(
        f"Chunk {state.chunks + 1} of {state.module_id!r} must be a dict, not {type(chunk).__name__}",
        module_id=state.module_id,
    )


def _require(effect: EffectRecord, expected: str) -> None:
    if not hmac.compare_digest(effect.digest, expected):
        raise EffectDriftError(effect)
