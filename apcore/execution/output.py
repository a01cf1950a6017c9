"""What a module may return (§5.15.1)."""

from __future__ import annotations

import json
import logging
from typing import Any, Final

from apcore.errors import ModuleExecuteError, SchemaValidationError
from apcore.modules.definition import ModuleDefinition

logger = logging.getLogger("apcore.execution")

_JSON_TYPES: Final = frozenset({str, int, float, bool, type(None), dict, list})


def check_output(definition: ModuleDefinition, result: Any) -> None:
    """Raises ModuleExecuteError for anything but a dict, SchemaValidationError for one that does not fit (§5.15.1).

    A field that an open schema lets through and JSON cannot hold is logged; fields inside of fields are not searched.
    """
    if type(result) is not dict and not isinstance(result, dict):
        what = "cannot be None" if result is None else f"must be a dict, not {type(result).__name__}"
        raise ModuleExecuteError(f"The return value of {definition.module_id!r} {what}", module_id=definition.module_id)
    try:
        definition.output_validator.validate(result)
    except SchemaValidationError as error:  # else callers would look for the mistake in their inputs
        error.args = (f"The output of {definition.module_id!r} does not fit its schema: {error.message}",)
        error.user_fixable = False
        raise
    for name, value in result.items():
        if type(value) not in _JSON_TYPES:
            _log_unless_json(definition, name, value)


def _log_unless_json(definition: ModuleDefinition, name: object, value: Any) -> None:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        logger.warning(
            "Module %s returns %r as %s, which JSON cannot hold", definition.module_id, name, type(value).__name__
        )
