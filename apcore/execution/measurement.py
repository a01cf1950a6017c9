"""How the effect of a call is found out before anybody signs it (DESIGN §5)."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Iterable, Mapping
from threading import get_ident
from types import CoroutineType
from typing import Any

from apcore.context import Context, pass_on_cancellation
from apcore.effects import NO_EFFECT, EffectRecord, Provenance, is_settled
from apcore.errors import ModuleError, ModuleExecuteError
from apcore.execution.output import check_output
from apcore.execution.settings import Limits
from apcore.modules.activity import LEAVING, refuse
from apcore.modules.change import Change, PreviewResult
from apcore.modules.definition import Function, ModuleDefinition
from apcore.modules.plan import Plan
from apcore.pipeline import Invocation, Runner
from apcore.redaction import SensitiveValues


class EffectMeter:
    """Finds the effect by the module's own means: its execution rolled back, its plan, or its word."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def measure(self, runner: Runner, invocation: Invocation) -> Awaitable[EffectRecord]:
        """The effect that ``invocation`` would have. Raises what the module raises: such a call needs no signature."""
        match invocation.definition.effect:
            case "transactional":
                return self._rehearse(runner, invocation)
            case "planned":
                return self._planned(runner, invocation)
            case "declared":
                return self._declared(runner, invocation)
            case _:
                return _unknown()

    async def plan(self, runner: Runner, invocation: Invocation) -> Plan:
        """What the module's ``plan()`` returns. Raises ModuleExecuteError when that is no Plan."""
        definition, context = invocation.definition, invocation.context
        return _checked_plan(definition, await self._run(runner, invocation, definition.plan, context))

    async def warnings(self, runner: Runner, invocation: Invocation, preflight: Function) -> list[str]:
        """What ``preflight()`` warns of, without the secrets of the call. Raises what it raises (§12.8.5.1)."""
        given = await self._ahead(runner, invocation, preflight)
        texts = [given] if isinstance(given, str) else given or ()
        secrets = invocation.secrets
        return [str(secrets.hide(str(text))) for text in texts]

    async def _rehearse(self, runner: Runner, invocation: Invocation) -> EffectRecord:
        """Run the module under capture and undo it; without a runner that can, the effect is not known."""
        definition, context = invocation.definition, invocation.context.rehearsal()

        async def body(inner: Runner) -> Any:
            result = await self._run(inner, invocation, definition.execute, context)
            try:
                check_output(definition, result)
            except ModuleError as error:
                error.details["step"] = "output_validation"
                raise
            return result

        return await runner.measure(invocation, body) or NO_EFFECT

    async def _planned(self, runner: Runner, invocation: Invocation) -> EffectRecord:
        definition = invocation.definition
        plan = _checked_plan(definition, await self._ahead(runner, invocation, definition.plan))
        return planned_effect(plan, invocation.secrets)

    async def _declared(self, runner: Runner, invocation: Invocation) -> EffectRecord:
        definition = invocation.definition
        preview = await self._ahead(runner, invocation, definition.preview)
        if preview is None:
            return NO_EFFECT
        if not isinstance(preview, PreviewResult):
            raise _wrong_type(definition, "preview() must return a PreviewResult or None", preview)
        return _record("declared", preview.changes, invocation.secrets)

    async def _ahead(self, runner: Runner, invocation: Invocation, function: Any) -> Any:
        """Run what only looks ahead: what it puts into the ``data`` that the chain shares does not stay there."""
        context = invocation.context
        shared, context.data = context.data, dict(context.data)
        try:
            return await self._run(runner, invocation, function, context)
        finally:
            context.data = shared

    async def _run(self, runner: Runner, invocation: Invocation, function: Any, context: Context) -> Any:
        """Every run gets inputs of its own: what one does to them must not be what is approved, or runs next."""
        definition, inputs = invocation.definition, _own(invocation.inputs)
        deadline = self._limits.settings.module_deadline(definition.timeout_ms, context.deadline)
        activity = definition.activity
        activity[context] = get_ident()  # before the look for LEAVING; see Activity
        try:
            if LEAVING in activity:
                refuse(definition.module_id)
            result = runner.call_within(deadline, context, function, inputs, context)
            return await result if type(result) is CoroutineType else result
        except asyncio.CancelledError as error:
            pass_on_cancellation(error)
            message = f"{definition.module_id} awaited something that was cancelled"
            raise ModuleExecuteError(message, module_id=definition.module_id) from error
        finally:
            del activity[context]


def _checked_plan(definition: ModuleDefinition, plan: Any) -> Plan:
    if isinstance(plan, Plan):
        return plan
    raise _wrong_type(definition, "plan() must return a Plan", plan)


async def _unknown() -> EffectRecord:
    return NO_EFFECT


_UNCHANGEABLE = frozenset({str, int, float, bool, type(None)})


def _own(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """A copy of inputs that shares nothing with them that could be changed."""
    if type(inputs) is dict and _UNCHANGEABLE.issuperset(map(type, inputs.values())):
        return inputs.copy()
    return copy.deepcopy(inputs)


def _wrong_type(definition: ModuleDefinition, expected: str, value: Any) -> ModuleExecuteError:
    return ModuleExecuteError(f"{definition.module_id}: {expected}, not {type(value).__name__}")


def planned_effect(plan: Plan, secrets: SensitiveValues) -> EffectRecord:
    """The effect record of a plan, without the secrets of the call that it was made for."""
    return _record("planned", plan.changes, secrets)


def _record(provenance: Provenance, changes: Iterable[Change], secrets: SensitiveValues) -> EffectRecord:
    try:
        return EffectRecord.build(provenance, map(_lasting, changes), secrets=secrets)
    except (TypeError, ValueError, RecursionError, copy.Error) as error:
        raise ModuleExecuteError("before and after of a Change are JSON values; one of them holds another") from error


def _lasting(change: Change) -> Change:
    """The change, sharing nothing that could be changed: the module may go on working with the rows that it named."""
    return change if not change.extras and is_settled(change) else copy.deepcopy(change)
