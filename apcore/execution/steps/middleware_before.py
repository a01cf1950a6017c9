"""Step 6: the way in through the middleware; the clock of the whole chain starts here (§11.8.4)."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Collection, Coroutine, Mapping
from time import monotonic
from types import CoroutineType
from typing import Any

from apcore.errors import ApprovalDeniedError
from apcore.execution.settings import Limits
from apcore.middleware import MiddlewareManager, Passage
from apcore.pipeline import PipelineState
from apcore.redaction import DEFAULT_SENSITIVE_KEYS


class MiddlewareBefore:
    """Runs every ``before()``, outermost first."""

    def __init__(
        self,
        middleware: MiddlewareManager,
        limits: Limits,
        sensitive_keys: Collection[str] = DEFAULT_SENSITIVE_KEYS,
    ) -> None:
        self._middleware = middleware
        self._sensitive_keys = sensitive_keys
        self._limits = limits

    def run(self, state: PipelineState) -> Coroutine[Any, Any, None] | None:
        """Raises ApprovalDeniedError when a middleware changes inputs that an approval was given for."""
        context = state.context
        if context.deadline is None and (limit := self._limits.settings.global_timeout):
            context.deadline = monotonic() + limit / 1000
        if state.passage is None:  # another attempt goes on with the passage of the first
            onion = self._middleware.onion
            if not onion.layers:
                return None
            state.passage = Passage(onion, state.module_id, context)
        given = state.inputs if state.sealed_inputs is None else copy.deepcopy(state.sealed_inputs)
        inputs = state.passage.before(given, state.runner)
        if inputs is state.inputs:
            return None
        if type(inputs) is CoroutineType:
            return self._wait(inputs, state)
        self._take(inputs, state)
        return None

    async def _wait(self, inputs: Awaitable[Mapping[str, Any]], state: PipelineState) -> None:
        self._take(await inputs, state)

    def _take(self, inputs: Mapping[str, Any], state: PipelineState) -> None:
        if state.sealed_inputs is None:
            state.inputs = inputs
            state.context.settle_inputs(inputs, state.definition.input_schema, self._sensitive_keys)
        elif inputs != state.sealed_inputs:
            raise ApprovalDeniedError(
                state.grant,
                "A middleware changed the inputs after they were approved; a rewriter can do so before the approval",
            )
