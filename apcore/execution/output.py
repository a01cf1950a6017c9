"""What a module may return (§5.15.1)."""

from __future__ import annotations

from typing import Any

from apcore.errors import ModuleExecuteError
from apcore.modules.definition import ModuleDefinition


def check_output(definition: ModuleDefinition, result: Any) -> None:
    """Raises ModuleExecuteError for anything but a dict, SchemaValidationError for one that does not fit (§5.15.1)."""
    if type(result) is not dict and not isinstance(result, dict):
        what = "cannot be None" if result is None else f"must be a dict, not {type(result).__name__}"
        raise ModuleExecuteError(f"The return value of {definition.module_id!r} {what}", module_id=definition.module_id)
    definition.output_validator.validate(result)
