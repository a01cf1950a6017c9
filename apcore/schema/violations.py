"""Validation failures as data (§4.14).

The messages are written here and not taken from the validators, which quote the value: it may be sensitive, or long.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from jsonschema.exceptions import ValidationError

from apcore.schema.kinds import kind_of
from apcore.schema.reference import unknown_fields
from apcore.schema.refs import pointer_to
from apcore.schema.sensitive import REDACTED_VALUE

MAX_VIOLATIONS: Final = 1000
_LONGEST_TEXT: Final = 200
_LARGEST_NUMBER: Final = 10**300

_MESSAGES: Final[Mapping[str, str]] = {
    "additionalProperties": "is not a known field",
    "anyOf": "must fit one of the allowed forms",
    "const": "must be {expected}",
    "contains": "must contain an element of the described kind",
    "dependentRequired": "needs other fields beside those that are given",
    "enum": "must be one of {expected}",
    "exclusiveMaximum": "must be less than {expected}",
    "exclusiveMinimum": "must be greater than {expected}",
    "format": "must be a valid {expected}",
    "items": "must not have further elements",
    "maxContains": "must contain at most {expected} elements of the described kind",
    "maxItems": "must have at most {expected} elements",
    "maxLength": "must have at most {expected} characters",
    "maxProperties": "must have at most {expected} fields",
    "maximum": "must be at most {expected}",
    "minContains": "must contain at least {expected} elements of the described kind",
    "minItems": "must have at least {expected} elements",
    "minLength": "must have at least {expected} characters",
    "minProperties": "must have at least {expected} fields",
    "minimum": "must be at least {expected}",
    "multipleOf": "must be a multiple of {expected}",
    "not": "must not be of the excluded kind",
    "oneOf": "must fit exactly one of the allowed forms",
    "pattern": "must match the pattern {expected}",
    "required": "is required",
    "unevaluatedItems": "has elements that are not allowed",
    "unevaluatedProperties": "has fields that are not known",
    "uniqueItems": "must not have equal elements",
}


def describe_violations(errors: Iterable[ValidationError], masked: Any) -> list[dict[str, Any]]:
    """One item per violation, at most 1,000: path and message, and where they help constraint, expected and actual.

    ``masked`` is the value without what the schema marks as sensitive: actual values are read from there.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for violation in islice(_violations(errors, masked), MAX_VIOLATIONS):
        found.setdefault((violation["path"], violation["constraint"]), violation)
    return sorted(found.values(), key=lambda violation: str(violation["path"]))


def _violations(errors: Iterable[ValidationError], masked: Any) -> Iterator[dict[str, Any]]:
    for error in errors:
        meant = _errors_of_the_form_meant(error)
        if meant:
            yield from _violations(meant, masked)
        elif error.validator == "required":
            yield from (_about_field(error, name) for name in _missing_fields(error))
        elif error.validator == "additionalProperties":
            yield from (_about_field(error, name) for name in _unknown_fields(error))
        else:
            yield _about_value(error, masked)


def _errors_of_the_form_meant(error: ValidationError) -> list[ValidationError]:
    """Of a choice between forms, the errors of the only one that the value can have meant; none if unclear."""
    if error.validator not in {"anyOf", "oneOf"}:
        return []
    forms: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        forms.setdefault(inner.schema_path[0], []).append(inner)
    candidates = [form for form in forms.values() if not any(_rules_the_form_out(inner) for inner in form)]
    return candidates[0] if len(candidates) == 1 else []


def _rules_the_form_out(error: ValidationError) -> bool:
    """Another type, or another value of the field that tells the forms apart."""
    if error.validator == "const" or _is_refusal_of_everything(error):
        return True
    return not error.path and error.validator in {"type", "enum"}


def _is_refusal_of_everything(error: ValidationError) -> bool:
    return error.validator == "not" and not error.validator_value


def _missing_fields(error: ValidationError) -> list[str]:
    instance: Any = error.instance
    wanted: Any = error.validator_value
    return [name for name in wanted if name not in instance]


def _unknown_fields(error: ValidationError) -> list[str]:
    instance: Any = error.instance
    schema: Any = error.schema
    return unknown_fields(instance, schema)


def _about_field(error: ValidationError, name: str) -> dict[str, Any]:
    constraint = str(error.validator)
    return {
        "path": pointer_to([*error.absolute_path, name]),
        "message": _MESSAGES[constraint],
        "constraint": constraint,
    }


def _about_value(error: ValidationError, masked: Any) -> dict[str, Any]:
    constraint = str(error.validator)
    violation: dict[str, Any] = {
        "path": pointer_to(error.absolute_path),
        "message": _message(constraint, error),
        "constraint": constraint,
    }
    if _is_plain(error.validator_value):
        violation["expected"] = error.validator_value
    actual = _at(error.absolute_path, masked)
    if _can_be_shown(actual):
        violation["actual"] = _shortened(actual)
    return violation


def _message(constraint: str, error: ValidationError) -> str:
    if _is_refusal_of_everything(error):
        return "is not allowed"
    if constraint == "type":
        wanted: Any = error.validator_value
        names = " or ".join(wanted) if isinstance(wanted, list) else str(wanted)
        return f"must be {names}, not {kind_of(error.instance)}"
    text = _MESSAGES.get(constraint, f"does not satisfy '{constraint}'")
    return text.format(expected=_in_words(error.validator_value))


def _in_words(expected: Any) -> str:
    if isinstance(expected, list):
        return ", ".join(str(each) for each in expected)
    return str(expected)


def _is_plain(expected: Any) -> bool:
    if isinstance(expected, list):
        return all(_is_plain(each) for each in expected)
    return not isinstance(expected, dict)


def _at(path: Iterable[Any], masked: Any) -> Any:
    """The value at a path, or the mask if something above it was masked as a whole."""
    for token in path:
        if masked == REDACTED_VALUE:
            break
        masked = masked[token]
    return masked


def _can_be_shown(value: Any) -> bool:
    """Whether it is a plain JSON value that others can read: some of them know no number of more digits."""
    if isinstance(value, int):
        return abs(value) < _LARGEST_NUMBER
    return value is None or isinstance(value, str) or (isinstance(value, float) and math.isfinite(value))


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return f"{value[:_LONGEST_TEXT]}…"
    return value
