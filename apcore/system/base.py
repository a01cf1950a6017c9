"""What the system modules have in common (§6.7)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from apcore.context import Context
from apcore.errors import InvalidInputError
from apcore.modules import ModuleAnnotations
from apcore.redaction import is_sensitive_path
from apcore.system.ports import Author

READ: Final = ModuleAnnotations(readonly=True, idempotent=True, open_world=False)
"""Of modules that look and never change anything, so that they may be called again and again."""

WRITE: Final = ModuleAnnotations(requires_approval=True, open_world=False)
"""Of modules that change how the application runs: a human signs (§6.6.3)."""

MODULE_ID: Final[Mapping[str, Any]] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 192,
    "description": "The canonical ID of a registered module",
}
REASON: Final[Mapping[str, Any]] = {
    "type": "string",
    "maxLength": 500,
    "default": "",
    "description": "Why, in a sentence: for whoever signs, and for the audit trail",
}
PERIOD: Final[Mapping[str, Any]] = {
    "type": "string",
    "pattern": "^[1-9][0-9]{0,4}[hd]$",
    "default": "24h",
    "description": "How far to look back, in hours or days: 24h, 7d",
}
COUNT: Final[Mapping[str, Any]] = {"type": "integer", "minimum": 0}
RATE: Final[Mapping[str, Any]] = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
FAULTS: Final[Mapping[str, Any]] = {
    "fault_count": {**COUNT, "description": "Those of the errors that are the module's own, and not its callers'"},
    "fault_rate": {**RATE, "description": "Their share of the calls without errors of callers"},
}
MILLISECONDS: Final[Mapping[str, Any]] = {"type": ["number", "null"], "minimum": 0}
TIME: Final[Mapping[str, Any]] = {"type": ["string", "null"], "format": "date-time"}


def closed(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    """The schema of an object with these properties and no others; all but the optional ones are required."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def either(schema: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The schema of an object in which exactly one of these properties is given."""
    return {**schema, "oneOf": [{"required": [name]} for name in names]}


def hours_of(period: str) -> int:
    """The hours that a period such as `24h` or `7d` has. Raises InvalidInputError for another text."""
    found = re.fullmatch(r"([1-9][0-9]{0,4})([hd])", period)
    if found is None:
        raise InvalidInputError(f"{period!r} is no period: write 24h or 7d", details={"period": period})
    return int(found[1]) * (24 if found[2] == "d" else 1)


def is_secret_key(key: str, sensitive_keys: Collection[str]) -> bool:
    """Whether a configuration key, or a section above it, means a secret: `db.password`, `secret.first` (C-56)."""
    return is_sensitive_path(key, sensitive_keys)


def author_of(inputs: Mapping[str, Any], context: Context) -> Author:
    """Who asked for a change, and why."""
    return Author(context.identity, str(inputs.get("reason", "")), context.trace_id)
