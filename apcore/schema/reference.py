"""The reference validator, which explains why a value does not fit (§4.14).

It is jsonschema, with tuples as arrays, and with the keywords that can take it very long left to the fast validator.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import jsonschema_rs
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing.jsonschema import EMPTY_REGISTRY

from apcore.schema.formats import FORMATS
from apcore.schema.patterns import matches

_HAS_EQUAL_ELEMENTS: Final = jsonschema_rs.Draft202012Validator({"not": {"uniqueItems": True}}).is_valid


def is_explainable(prepared: Mapping[str, Any]) -> bool:
    """Whether the reference may be asked: with one pair of keywords jsonschema searches Python's patterns itself."""
    text = json.dumps(prepared)
    return not ('"unevaluatedProperties"' in text and '"patternProperties"' in text)


def reference_validator(prepared: Mapping[str, Any]) -> Validator:
    """The validator that explains."""
    # the empty registry knows the meta-schemas and fetches nothing
    return _Reference(prepared, registry=EMPTY_REGISTRY, format_checker=_format_checker())


def unknown_fields(instance: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The fields that ``additionalProperties`` of this schema is about."""
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [name for name in instance if name not in known and not any(matches(each, name) for each in patterns)]


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not matches(pattern, instance):
        yield ValidationError("does not match")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, subschema in patterns.items():
            for name, value in instance.items():
                if matches(pattern, name):
                    yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    extras = unknown_fields(instance, schema) if isinstance(instance, dict) else []
    if wanted is False and extras:
        yield ValidationError("has unknown fields")
    elif isinstance(wanted, dict):
        for name in extras:
            yield from validator.descend(instance[name], wanted, path=name)


def _unique_items(validator: Any, wanted: bool, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if wanted and isinstance(instance, (list, tuple)) and _HAS_EQUAL_ELEMENTS(instance):
        yield ValidationError("has equal elements")


_Reference: Final[type[Validator]] = extend(  # type: ignore[no-untyped-call]  # jsonschema is untyped here
    Draft202012Validator,
    validators={
        "additionalProperties": _additional_properties,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
    },
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "array", lambda _checker, value: isinstance(value, (list, tuple))
    ),
)


def _format_checker() -> FormatChecker:
    checker = FormatChecker(formats=())
    for name, is_valid in FORMATS.items():
        checker.checks(name)(lambda value, is_valid=is_valid: not isinstance(value, str) or is_valid(value))
    return checker
