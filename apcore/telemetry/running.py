"""The call that runs on this thread or in this task: what logs say about it, and what they must not say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Final

from apcore.context import Context
from apcore.redaction import NO_SECRETS, SensitiveValues, redact


class RunningCall:
    """A call with the values of its inputs that nobody may see, which are looked for once, when somebody asks."""

    def __init__(self, state: Any, context: Context, keys: Collection[str], outer: RunningCall | None) -> None:
        self._state = state
        self._keys = keys
        self.context = context
        self.outer = outer

    @property
    def trace_id(self) -> str:
        """The trace of the call."""
        return self.context.trace_id

    @property
    def module_id(self) -> str | None:
        """The module, None while it is not known whether there is one of this ID."""
        return None if self._definition is None else str(self._definition.module_id)

    def hide(self, value: Any) -> Any:
        """The value without the secrets of this call and of those that called it."""
        inner = self._secrets.hide(value) if self._definition is not None else value
        return self.outer.hide(inner) if self.outer is not None else inner

    def inputs(self) -> Any:
        """The effective inputs as people may see them; None where no module says which of them are sensitive."""
        if self._definition is None:
            return None
        return self.hide(redact(_plain(self._state.inputs), self._definition.input_schema, self._keys))

    def output(self) -> Any:
        """The output as people may see it (§10.6)."""
        if self._definition is None:
            return None
        return self.hide(redact(self._state.result, self._definition.output_schema, self._keys))

    @property
    def _definition(self) -> Any:
        return getattr(self._state, "definition", None)

    @cached_property
    def _secrets(self) -> SensitiveValues:
        inputs = _plain(self._state.inputs)
        if not inputs:
            return NO_SECRETS
        return SensitiveValues(inputs, self._definition.input_schema, self._keys)


_RUNNING: Final[ContextVar[RunningCall | None]] = ContextVar("apcore_running_call", default=None)


def running_call() -> RunningCall | None:
    """The innermost call that runs here, where a middleware of an App keeps track of them."""
    return _RUNNING.get()


@contextmanager
def running(call: RunningCall) -> Iterator[RunningCall]:
    """Make this the running call for as long as the block lasts."""
    token = _RUNNING.set(call)
    try:
        yield call
    finally:
        _RUNNING.reset(token)


def entered(state: Any) -> Context:
    """The context of the call that is about to begin, made here so that it is known before the first step.

    The executor takes it as it is (§5.9); who asks again gets the same one.
    """
    parent = state.parent if state.parent is not None else Context()
    context: Context = parent.enter(state.module_id)
    context.prepared_for = state.module_id
    state.parent = context
    return context


def _plain(inputs: Any) -> Any:
    return dict(inputs) if isinstance(inputs, Mapping) else inputs
