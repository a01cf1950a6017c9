"""``Executor.validate()``: every check of a call, and what the call would change, without making it (§12.8)."""

from __future__ import annotations

import logging
import opcode
from dataclasses import dataclass, field
from types import CoroutineType
from typing import Any, Final

from apcore.context import Context
from apcore.effects import EffectRecord
from apcore.errors import ModuleError, PipelineStepError, propagate_error
from apcore.execution.measurement import EffectMeter
from apcore.frozen import field_setters
from apcore.ids import validate_canonical_id
from apcore.modules import home_package, is_installed
from apcore.modules.change import Change
from apcore.modules.definition import Function
from apcore.pipeline import PipelineState, Strategy
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, redact_text

logger = logging.getLogger("apcore.execution")
_LONGEST_TEXT: Final = 200
"""Of what an exception says."""
_RAISE: Final = opcode.opmap["RAISE_VARARGS"]


@dataclass(frozen=True, slots=True, init=False)
class PreflightCheckResult:
    """One check: its name, whether it passed, the error object (§8.1) if not, and advisory warnings (§12.8.4)."""

    check: str
    passed: bool
    error: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)

    def __init__(
        self, check: str, passed: bool, error: dict[str, Any] | None = None, warnings: list[str] | None = None
    ) -> None:
        _set_check(self, check)
        _set_passed(self, passed)
        _set_error(self, error)
        _set_warnings(self, [] if warnings is None else warnings)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"check": self.check, "passed": self.passed, "error": self.error, "warnings": list(self.warnings)}


_set_check, _set_passed, _set_error, _set_warnings = field_setters(PreflightCheckResult)


@dataclass(frozen=True, slots=True, init=False)
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

    def __init__(
        self,
        valid: bool,
        checks: list[PreflightCheckResult],
        requires_approval: bool,
        predicted_changes: list[Change] | None = None,
        effect: EffectRecord | None = None,
    ) -> None:
        _set_valid(self, valid)
        _set_checks(self, checks)
        _set_requires_approval(self, requires_approval)
        _set_predicted_changes(self, [] if predicted_changes is None else predicted_changes)
        _set_effect(self, effect)

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


_set_valid, _set_checks, _set_requires_approval, _set_predicted_changes, _set_effect = field_setters(PreflightResult)


_CHECK_OF_STEP: Final = {
    "context_creation": "module_id",
    "module_lookup": "module_lookup",
    "call_chain_guard": "call_chain",
    "acl_check": "acl",
    "approval_gate": "approval",
    "input_validation": "schema",
}
_CHECKS: Final = tuple(_CHECK_OF_STEP.values())
_ENDS_IT: Final = {"module_id", "module_lookup"}
"""Without an ID or a module there is nothing left to check (§12.8.1)."""


class Preflight:
    """Runs the pure steps of a strategy one by one and collects what they say; one object for one check of a call."""

    def __init__(self, strategy: Strategy, meter: EffectMeter) -> None:
        self._strategy = strategy
        self._meter = meter
        self._found: dict[str, PreflightCheckResult | None] = dict.fromkeys(_CHECKS)
        self._further: list[PreflightCheckResult] = []

    async def run(self, state: PipelineState) -> PreflightResult:
        """All checks; then, if every one passed, the module's own ``preflight()`` and its effect (C-18).

        No code of the module runs when a check was not made, because somebody replaced its step by an impure one.
        """
        valid = await self._check(state)
        effect = None
        if valid and all(self._found.values()):
            if state.definition.preflight is not None:
                await self._warn(state, state.definition.preflight)
            try:
                effect = await self._meter.measure(state.runner, state.invocation())
            except Exception as error:  # noqa: BLE001 - a preview that fails is a warning (PV-05)
                said = _advice if state.definition.effect == "declared" else _message
                text = f"The effect could not be previewed: {said(error, state)}"
                self._further.append(PreflightCheckResult("module_preview", True, None, [text]))
        known = getattr(state, "definition", None)
        return PreflightResult(
            valid,
            [*filter(None, self._found.values()), *self._further],
            known is not None and state.needs_approval,
            list(effect.changes) if effect else [],
            effect,
        )

    async def _check(self, state: PipelineState) -> bool:
        """Make the checks; whether all passed."""
        valid = True
        for step in self._strategy.pure:
            name = _CHECK_OF_STEP.get(step.name)
            try:
                if name == "module_id":
                    validate_canonical_id(state.module_id)
                output = step.begin(state)
                if output is not None and type(output) is CoroutineType:
                    await output
            except Exception as error:  # noqa: BLE001 - failures are collected, not raised (§12.8.1)
                if step.ignore_errors:
                    warning = f"Step {step.name!r} failed and is configured to be ignored"
                    self._note(name, PreflightCheckResult(name or step.name, True, None, [warning]))
                    continue
                valid = False
                self._note(name, PreflightCheckResult(name or step.name, False, _describe(error, state)))
                if name is not None and name in _ENDS_IT:
                    self._forget_all_after(name)
                    break
            else:
                if name is not None:  # what is no check has no entry when there is nothing to say
                    self._found[name] = PreflightCheckResult(name, True)
        return valid

    def _note(self, name: str | None, result: PreflightCheckResult) -> None:
        if name is None:
            self._further.append(result)
        else:
            self._found[name] = result

    def _forget_all_after(self, last: str) -> None:
        """Steps do not run in the order in which their checks are listed."""
        for name in _CHECKS[_CHECKS.index(last) + 1 :]:
            self._found[name] = None
        self._further.clear()

    async def _warn(self, state: PipelineState, preflight: Function) -> None:
        """What ``preflight()`` warns of; it advises and never fails the validation (§12.8.5.1)."""
        try:
            texts = await self._meter.warnings(state.runner, state.invocation(), preflight)
        except Exception as error:  # noqa: BLE001 - preflight() only advises (§12.8.5.1)
            texts = [f"preflight() failed: {_advice(error, state)}"]
        if texts:
            self._further.append(PreflightCheckResult("module_preflight", True, None, texts))


def _describe(error: Exception, state: PipelineState) -> dict[str, Any]:
    original = error.original if isinstance(error, PipelineStepError) else error
    context = getattr(state, "context", None) or Context.create()
    return propagate_error(original, str(state.module_id), context).to_dict()


def _message(error: Exception, state: PipelineState) -> str:
    """The text of an error that is meant for callers, without the secrets of the call; of a foreign one its type."""
    if not isinstance(error, ModuleError):
        return type(error).__name__
    return str(state.invocation().secrets.hide(error.message))


def _advice(error: Exception, state: PipelineState) -> str:
    """As ``_message``, and what the module said with an exception of the language (§12.8.5.1).

    What libraries, the system and the language itself say tells of hosts, paths, and values that nobody redacts.
    """
    kind = type(error)
    if kind.__module__ != "builtins" or isinstance(error, OSError) or not _is_said_by(state.definition.module, error):
        return _message(error, state)
    try:
        keys = DEFAULT_SENSITIVE_KEYS.union(state.context.sensitive_keys)
        text = redact_text(str(state.invocation().secrets.hide(str(error))), keys)
    except Exception:  # noqa: BLE001 - an exception whose text cannot be had has none
        text = ""
    shown = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
    return f"{kind.__name__}: {shown}" if shown else kind.__name__


def _is_said_by(module: Any, error: Exception) -> bool:
    """Whether a ``raise`` chose the words: in the module's package, in code that is not installed, or in ours."""
    raised = error.__traceback__
    while raised is not None and raised.tb_next is not None:
        raised = raised.tb_next
    if raised is None:
        return False
    code, name = raised.tb_frame.f_code, str(raised.tb_frame.f_globals.get("__name__"))
    if code.co_code[raised.tb_lasti] != _RAISE:
        return False
    return name.partition(".")[0] in ("apcore", home_package(module)) or not is_installed(code.co_filename)
