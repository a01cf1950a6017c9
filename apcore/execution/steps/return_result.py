"""Step 11: the output, as the module made it (§7.4)."""

from __future__ import annotations

from typing import Any

from apcore.pipeline import PipelineState


def return_result(state: PipelineState) -> Any:
    """No envelope: trace data stays on the context."""
    return state.result
