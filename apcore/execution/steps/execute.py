"""Step 8: the module runs (§12.7.5). Plans and claims are compared with what was approved before anything happens."""

from __future__ import annotations

import copy
import hmac
from typing import Any

from apcore.approval import EffectDriftError
from apcore.effects import NO_EFFECT, EffectRecord
from apcore.execution.measurement import EffectMeter, planned_effect
from apcore.execution.settings import ExecutorSettings
from apcore.pipeline import PipelineState


class Execute:
    """Runs ``execute()``, or ``apply()`` of a checked plan, until the module's deadline."""

    def __init__(self, settings: ExecutorSettings, meter: EffectMeter) -> None:
        self._settings = settings
        self._meter = meter

    async def run(self, state: PipelineState) -> Any:
        """Raises ModuleTimeoutError past the deadline and EffectDriftError when the approved effect is not this one."""
        definition, context = state.definition, state.context
        if state.sealed_inputs is not None:
            # Exactly what was approved, also when a transaction that another one got in the way of runs again.
            state.inputs = copy.deepcopy(state.sealed_inputs)
        deadline = self._settings.module_deadline(definition.timeout_ms, context.deadline)
        function, argument = definition.execute, state.inputs
        expected = state.grant.effect_digest if state.grant is not None else None
        if expected is not None and definition.effect == "planned" and definition.apply is not None:
            invocation = state.invocation()
            argument = await self._meter.plan(state.runner, invocation)
            _require(planned_effect(argument, invocation.secrets), expected)
            function = definition.apply
        elif expected is not None and definition.effect == "declared":
            _require(await self._meter.measure(state.runner, state.invocation()), expected)
        elif expected is not None and definition.effect == "none":
            _require(NO_EFFECT, expected)
        state.result = await state.runner.call_within(deadline, context, function, argument, context)
        return state.result


def _require(effect: EffectRecord, expected: str) -> None:
    if not hmac.compare_digest(effect.digest, expected):
        raise EffectDriftError(effect)
