"""Step 9: what the module returned fits its schema, before anything is committed (§5.15.1)."""

from __future__ import annotations

from apcore.execution.output import check_output
from apcore.pipeline import PipelineState


def validate_output(state: PipelineState) -> None:
    """Raises ModuleExecuteError for anything but a dict and SchemaValidationError for one that does not fit."""
    check_output(state.definition, state.result)
