"""Step 10: the way out through the middleware (§11.8.3)."""

from __future__ import annotations

from apcore.execution.steps.output_validation import validate_output
from apcore.pipeline import PipelineState


class MiddlewareAfter:
    """Runs every ``after()``, innermost first; a replaced output is validated again (C-46)."""

    async def run(self, state: PipelineState) -> None:
        """Raises what a middleware raises, and SchemaValidationError for a replacement that does not fit."""
        if state.passage is None:
            return
        output = await state.passage.after(state.result, state.runner)
        if output is not state.result:
            state.result = output
            validate_output(state)
