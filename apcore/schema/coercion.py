"""A validator for use outside of calls, where values may be turned into the types that a schema wants (§4.9).

Calls never do this: whoever approves a call must see the values that run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from apcore.schema.refs import References
from apcore.schema.validate import compile_schema

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_BOOLEANS: Final = {"true": True, "false": False}
_LONGEST_NUMBER: Final = 300


class SchemaValidator:
    """Validates values as calls are validated, or more leniently.

    ``strict`` refuses undeclared fields (C-23). ``coerce_types`` takes texts for the integers, numbers and booleans
    that they spell (``"5"``, ``"2.5"``, ``"true"``), where the schema has no use for the text itself.
    """

    def __init__(self, *, strict: bool = True, coerce_types: bool = False) -> None:
        self._strict = strict
        self._coerce_types = coerce_types

    def validate(self, value: Any, schema: Mapping[str, Any]) -> Any:
        """The value as it is valid: itself, or a coerced copy.

        Raises ``SchemaValidationError``, and what ``compile_schema`` raises for a bad schema.
        """
        validator = compile_schema(schema, strict_inputs=self._strict)
        if self._coerce_types and not validator.is_valid(value):
            value = coerce_types(value, schema)
        validator.validate(value)
        return value


def coerce_types(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value with texts replaced by what they spell, wherever the schema wants that; nothing else changes."""
    return _coerce(value, schema, References(schema))


def _coerce(value: Any, schema: Any, references: References) -> Any:
    if not isinstance(schema, Mapping):
        return value
    target = references.target_of(schema)
    if target is not None:
        value = _coerce(value, target, references)
    for each in schema.get("allOf", ()):
        value = _coerce(value, each, references)
    for keyword in ("anyOf", "oneOf"):
        value = _coerce_to_one(value, schema.get(keyword, ()), references)
    if isinstance(value, str):
        return _spelt(value, schema)
    if isinstance(value, dict):
        fields, further = schema.get("properties", {}), schema.get("additionalProperties")
        return {name: _coerce(each, fields.get(name, further), references) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        first, further = schema.get("prefixItems", ()), schema.get("items")
        return [
            _coerce(each, first[index] if index < len(first) else further, references)
            for index, each in enumerate(value)
        ]
    return value


def _coerce_to_one(value: Any, forms: Any, references: References) -> Any:
    """The value as the first form that changes it takes it; unchanged if a form takes it as it is."""
    kinds = [form.get("type") for form in forms if isinstance(form, Mapping)]
    if isinstance(value, str) and "string" in kinds:
        return value
    candidates = (_coerce(value, form, references) for form in forms)
    return next((each for each in candidates if each != value or type(each) is not type(value)), value)


def _spelt(text: str, schema: Mapping[str, Any]) -> Any:
    named = schema.get("type", ())
    kinds = [named] if isinstance(named, str) else named
    if "string" in kinds or text in schema.get("enum", ()):
        return text
    for kind in kinds:
        read = _READERS.get(kind)
        found = None if read is None else read(text)
        if found is not None:
            return found
    return text


def _integer(text: str) -> int | None:
    return int(text) if len(text) <= _LONGEST_NUMBER and _INTEGER.fullmatch(text) else None


def _number(text: str) -> int | float | None:
    if _integer(text) is not None:
        return _integer(text)
    return float(text) if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) else None


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "integer": _integer,
    "number": _number,
    "boolean": lambda text: _BOOLEANS.get(text.lower()),
}
