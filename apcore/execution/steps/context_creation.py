"""Step 1: the context of this call, and inputs of its own (§7.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apcore.approval import APPROVAL_TOKEN
from apcore.context import CancelToken, Context
from apcore.errors import InvalidInputError
from apcore.ids import validate_canonical_id
from apcore.pipeline import PipelineState


class ContextCreation:
    """Makes the child context and takes the approval token out of a copy of the inputs."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor

    def run(self, state: PipelineState) -> None:
        """Raises InvalidModuleIdError for an ID that is no text, InvalidInputError for inputs that are no mapping."""
        given: object = state.module_id
        if not isinstance(given, str) or not given:
            validate_canonical_id(state.module_id)
        parent = state.parent
        if parent is None:
            state.context = Context("", None, (state.module_id,), self._executor, cancel_token=CancelToken())
        elif type(parent) is Context or isinstance(parent, Context):
            state.context = parent.enter(state.module_id)
            state.context.executor = self._executor
        else:
            raise InvalidInputError(f"The context of a call is a Context, not {type(parent).__name__}")
        state.inputs, state.token = take_token(state.inputs)


def take_token(inputs: Any) -> tuple[dict[str, Any], str | None]:
    """A copy of inputs without the approval token, and the token. Raises InvalidInputError."""
    if inputs is None:
        return {}, None
    if type(inputs) is not dict and not isinstance(inputs, Mapping):
        raise InvalidInputError(f"Inputs must be an object with named values, not {type(inputs).__name__}")
    own = dict(inputs)
    token = own.pop(APPROVAL_TOKEN, None)
    if token is not None and not isinstance(token, str):
        raise InvalidInputError(f"{APPROVAL_TOKEN} must be text: the approval_id of an earlier pending call")
    return own, token
