"""Our step between lookup and access check: policies that may change what a call asks for (DESIGN §4)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from apcore.approval import APPROVAL_TOKEN
from apcore.errors import ACLDeniedError, InternalError
from apcore.pipeline import PipelineState
from apcore.redaction import DEFAULT_SENSITIVE_KEYS

REWRITE_NOTE = "apcore.input_rewrite"
"""The key in ``context.data`` under which a caller finds what was rewritten."""


Verdict = Literal["allow", "deny", "ask", "rewrite"]
_VERDICTS = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rewriter's verdict: let the call be, refuse it, ask a human, or go on with other inputs."""

    verdict: Verdict
    reason: str = ""
    inputs: Mapping[str, Any] | None = None

    @classmethod
    def allow(cls) -> Rewrite:
        """Go on unchanged."""
        return cls("allow")

    @classmethod
    def deny(cls, reason: str) -> Rewrite:
        """Refuse the call."""
        return cls("deny", reason)

    @classmethod
    def ask(cls, reason: str, inputs: Mapping[str, Any] | None = None) -> Rewrite:
        """Ask a human, with other inputs if given, whatever the module's annotation says."""
        return cls("ask", reason, inputs)

    @classmethod
    def to(cls, inputs: Mapping[str, Any], reason: str = "") -> Rewrite:
        """Go on with ``inputs``."""
        return cls("rewrite", reason, inputs)


Rewriter = Callable[..., Any]
"""``rewriter(module_id, inputs, context) -> Rewrite | None``, sync or async; None allows."""


class InputRewrite:
    """Asks every rewriter in order; each sees what the one before it made of the inputs.

    After it the inputs are settled, defaults of the schema included: everybody from here on sees what will run.
    """

    def __init__(self, sensitive_keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> None:
        self.rewriters: tuple[Rewriter, ...] = ()
        self._sensitive_keys = sensitive_keys

    def run(self, state: PipelineState) -> Coroutine[Any, Any, None] | None:
        """Raises ACLDeniedError for a refusal. A rewriter works on a copy: changing it in place has no effect."""
        if self.rewriters:
            return self._ask(state)
        self._settle(state)
        return None

    async def _ask(self, state: PipelineState) -> None:
        for rewriter in self.rewriters:
            arguments = (state.module_id, copy.deepcopy(state.inputs), state.context)
            decision = await state.runner.call(rewriter, *arguments)
            if decision is not None:
                _apply(decision, rewriter, state)
        self._settle(state)

    def _settle(self, state: PipelineState) -> None:
        state.inputs = state.definition.with_defaults(state.inputs)
        state.context.settle_inputs(state.inputs, state.definition.input_schema, self._sensitive_keys)


def _apply(decision: Any, rewriter: Rewriter, state: PipelineState) -> None:
    name = getattr(rewriter, "__qualname__", type(rewriter).__qualname__)
    if not isinstance(decision, Rewrite):
        raise InternalError(f"Rewriter {name} must return a Rewrite or None, not {type(decision).__name__}")
    if decision.verdict not in _VERDICTS:
        raise InternalError(f"Rewriter {name} gave the verdict {decision.verdict!r}, which is none of {_VERDICTS}")
    if decision.verdict == "deny":
        reason = decision.reason or f"{name} gives no reason"
        raise ACLDeniedError(f"The call was refused: {reason}", details={"rewriter": name})
    if decision.verdict == "ask":
        state.approval_asked = decision.reason or f"{name} asks for an approval"
    inputs = _inputs_of(decision, name)
    if inputs is not None and inputs != state.inputs:
        if state.original_inputs is None:
            state.original_inputs = copy.deepcopy(state.inputs)
        state.inputs = inputs
        note = {"module_id": state.module_id, "rewriter": name, "reason": decision.reason}
        state.context.data.setdefault(REWRITE_NOTE, []).append(note)


def _inputs_of(decision: Rewrite, name: str) -> dict[str, Any] | None:
    """The other inputs, as a copy of their own: what the rewriter does with its object later has no effect.

    A token is the caller's to bring, and no input (§7.4).
    """
    given: object = decision.inputs
    if given is None and decision.verdict != "rewrite":
        return None
    if not isinstance(given, Mapping):
        raise InternalError(f"Rewriter {name} must give inputs as an object, not {type(given).__name__}")
    return {key: copy.deepcopy(value) for key, value in given.items() if key != APPROVAL_TOKEN}
