"""``Executor.validate()``: every check of a call, and what the call would change, without making it (§12.8)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

from apcore.context import Context
from apcore.effects import EffectRecord
from apcore.errors import ModuleError, PipelineStepError, propagate_error
from apcore.execution.measurement import EffectMeter
from apcore.ids import validate_canonical_id
from apcore.modules.change import Change
from apcore.modules.definition import Function
from apcore.pipeline import PipelineState, Step, Strategy

logger = logging.getLogger("apcore.execution")


@dataclass(frozen=True, slots=True)
class PreflightCheckResult:
    """One check: its name, whether it passed, the error object (§8.1) if not, and advisory warnings (§12.8.4)."""

    check: str
    passed: bool
    error: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"check": self.check, "passed": self.passed, "error": self.error, "warnings": list(self.warnings)}


@dataclass(frozen=True, slots=True)
class PreflightResult:
    """What ``validate()`` found (§12.8.3).

    ``predicted_changes`` are the listed changes of ``effect``; ``effect`` also says how they are known, whether they
    are all, and their digest. It is None when an earlier check failed.
    """

    valid: bool
    checks: list[PreflightCheckResult]
    requires_approval: bool
    predicted_changes: list[Change] = field(default_factory=list)
    effect: EffectRecord | None = None

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The error objects of the checks that failed."""
        return [check.error or {} for check in self.checks if not check.passed]

    def to_dict(self, limit: int | None = None) -> dict[str, Any]:
        """The JSON form, with at most ``limit`` changes."""
        changes = self.predicted_changes if limit is None else self.predicted_changes[:limit]
        return {
            "valid": self.valid,
            "checks": [check.to_dict() for check in self.checks],
            "requires_approval": self.requires_approval,
            "predicted_changes": [change.to_dict() for change in changes],
            "effect": self.effect.to_dict(limit=0) if self.effect else None,
            "errors": self.errors,
        }


_CHECK_OF_STEP = {
    "context_creation": "module_id",
    "module_lookup": "module_lookup",
    "call_chain_guard": "call_chain",
    "acl_check": "acl",
    "approval_gate": "approval",
    "input_validation": "schema",
}
_POSITIONS = {name: position for position, name in enumerate(_CHECK_OF_STEP.values())}
_ENDS_IT = {"module_id", "module_lookup"}
"""Without an ID or a module there is nothing left to check (§12.8.1)."""


class Preflight:
    """Runs the pure steps of a strategy one by one and collects what they say."""

    def __init__(self, strategy: Strategy, meter: EffectMeter) -> None:
        self._strategy = strategy
        self._meter = meter

    async def run(self, state: PipelineState) -> PreflightResult:
        """All checks; then, if every one passed, the module's own ``preflight()`` and its effect (C-18).

        No code of the module runs when a check was not made, because somebody replaced its step by an impure one.
        """
        checks = await self._check(state)
        valid = all(check.passed for check in checks)
        known = getattr(state, "definition", None)
        effect = None
        if valid and _POSITIONS.keys() <= {check.check for check in checks}:
            if state.definition.preflight is not None:
                checks += await self._warnings(state, state.definition.preflight)
            effect = await self._effect(state, checks)
        return PreflightResult(
            valid=valid,
            checks=checks,
            requires_approval=known is not None and state.needs_approval,
            predicted_changes=list(effect.changes) if effect else [],
            effect=effect,
        )

    async def _check(self, state: PipelineState) -> list[PreflightCheckResult]:
        found: list[PreflightCheckResult] = []
        for step in self._strategy.steps:
            if not step.pure:
                continue
            name = _CHECK_OF_STEP.get(step.name, step.name)
            try:
                if name == "module_id":
                    validate_canonical_id(state.module_id)
                await (step.perform(state) if step.before or step.after or not step.native else _plainly(step, state))
            except Exception as error:  # noqa: BLE001 - failures are collected, not raised (§12.8.1)
                if step.ignore_errors:
                    warning = f"Step {step.name!r} failed and is configured to be ignored"
                    found.append(PreflightCheckResult(name, passed=True, warnings=[warning]))
                    continue
                failed = PreflightCheckResult(name, passed=False, error=_describe(error, state))
                if name in _ENDS_IT:
                    return [check for check in found if _position(check) < _position(failed)] + [failed]
                found.append(failed)
            else:
                if name in _POSITIONS:  # what is no check has no entry when there is nothing to say
                    found.append(PreflightCheckResult(name, True, None, []))
        return sorted(found, key=_position)

    async def _warnings(self, state: PipelineState, preflight: Function) -> list[PreflightCheckResult]:
        """What ``preflight()`` warns of; it advises and never fails the validation (§12.8.5.1)."""
        try:
            texts = await self._meter.warnings(state.runner, state.invocation(), preflight)
        except Exception as error:  # noqa: BLE001 - preflight() only advises (§12.8.5.1)
            texts = [f"preflight() failed: {_message(error, state)}"]
        return [PreflightCheckResult("module_preflight", passed=True, warnings=texts)] if texts else []

    async def _effect(self, state: PipelineState, checks: list[PreflightCheckResult]) -> EffectRecord | None:
        """What the call would change; a module that cannot tell gives a warning and no changes (PV-05)."""
        try:
            return await self._meter.measure(state.runner, state.invocation())
        except Exception as error:  # noqa: BLE001 - a preview that fails is a warning (PV-05)
            text = f"The effect could not be previewed: {_message(error, state)}"
            checks.append(PreflightCheckResult("module_preview", passed=True, warnings=[text]))
            return None


async def _plainly(step: Step, state: PipelineState) -> None:
    await step.run(state) if step.is_async else step.run(state)


def _position(check: PreflightCheckResult) -> int:
    return _POSITIONS.get(check.check, len(_POSITIONS))


def _describe(error: Exception, state: PipelineState) -> dict[str, Any]:
    original = error.original if isinstance(error, PipelineStepError) else error
    context = getattr(state, "context", None) or Context.create()
    return propagate_error(original, str(state.module_id), context).to_dict()


def _message(error: Exception, state: PipelineState) -> str:
    """The text of an error that is meant for callers, without the secrets of the call; of a foreign one its type."""
    if not isinstance(error, ModuleError):
        return type(error).__name__
    return str(state.invocation().secrets.hide(error.message))
