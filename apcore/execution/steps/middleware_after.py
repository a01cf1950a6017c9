"""Step 10: the way out through the middleware (§11.8.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from types import CoroutineType
from typing import Any

from apcore.execution.steps.output_validation import validate_output
from apcore.pipeline import PipelineState


class MiddlewareAfter:
    """Runs every ``after()``, innermost first; a replaced output is validated again (C-46)."""

    def run(self, state: PipelineState) -> Coroutine[Any, Any, None] | None:
        """Raises what a middleware raises, and SchemaValidationError for a replacement that does not fit."""
        if state.passage is None:
            return None
        output = state.passage.after(state.result, state.runner)
        if output is state.result:
            return None
        if type(output) is CoroutineType:
            return _wait(output, state)
        _take(output, state)
        return None


async def _wait(output: Awaitable[Any], state: PipelineState) -> None:
    _take(await output, state)


def _take(output: Any, state: PipelineState) -> None:
    if output is not state.result:
        state.result = output
        validate_output(state)
