"""Step 6: the way in through the middleware; the clock of the whole chain starts here (§11.8.4)."""

from __future__ import annotations

import copy
from collections.abc import Collection
from time import monotonic

from apcore.errors import ApprovalDeniedError
from apcore.execution.settings import ExecutorSettings
from apcore.middleware import MiddlewareManager
from apcore.pipeline import PipelineState
from apcore.redaction import DEFAULT_SENSITIVE_KEYS


class MiddlewareBefore:
    """Runs every ``before()``, outermost first."""

    def __init__(
        self,
        middleware: MiddlewareManager,
        settings: ExecutorSettings,
        sensitive_keys: Collection[str] = DEFAULT_SENSITIVE_KEYS,
    ) -> None:
        self._middleware = middleware
        self._sensitive_keys = sensitive_keys
        self._limit = settings.global_timeout / 1000

    async def run(self, state: PipelineState) -> None:
        """Raises ApprovalDeniedError when a middleware changes inputs that an approval was given for."""
        context = state.context
        if context.deadline is None and self._limit:
            context.deadline = monotonic() + self._limit
        if state.passage is None:  # another attempt goes on with the passage of the first
            if not self._middleware.onion:
                return
            state.passage = self._middleware.passage(state.module_id, context)
        if state.sealed_inputs is None:
            before = state.inputs
            state.inputs = await state.passage.before(before, state.runner)
            if state.inputs is not before:
                context.settle_inputs(state.inputs, state.definition.input_schema, self._sensitive_keys)
            return
        changed = await state.passage.before(copy.deepcopy(state.sealed_inputs), state.runner)
        if changed != state.sealed_inputs:
            raise ApprovalDeniedError(
                state.grant,
                "A middleware changed the inputs after they were approved; a rewriter can do so before the approval",
            )
