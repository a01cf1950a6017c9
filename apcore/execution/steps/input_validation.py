"""Step 7: the inputs fit the schema; nothing is coerced (§4.14, DESIGN §4)."""

from __future__ import annotations

from apcore.pipeline import PipelineState


def validate_input(state: PipelineState) -> None:
    """Raises SchemaValidationError with one entry per violation."""
    state.definition.input_validator.validate(state.inputs)
