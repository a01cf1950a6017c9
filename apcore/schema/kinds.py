"""What JSON calls a Python value."""

from __future__ import annotations

from typing import Any, Final

_KINDS: Final = ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number"), (dict, "object"))


def kind_of(value: Any) -> str:
    """The JSON type of a Python value, or the name of its class if JSON has none for it."""
    if value is None:
        return "null"
    if isinstance(value, (list, tuple)):
        return "array"
    return next((name for each, name in _KINDS if isinstance(value, each)), type(value).__name__)
