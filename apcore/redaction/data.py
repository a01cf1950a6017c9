"""Data without its secrets; what holds none is not copied."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from apcore.redaction.keys import DEFAULT_SENSITIVE_KEYS, is_sensitive_path, means_secret
from apcore.redaction.parts import elements_of, fields_of, hidden_where_too_deep, text_of
from apcore.redaction.texts import hide_credentials, redact_text
from apcore.schema import REDACTED_VALUE, mask_sensitive

_VALUE_NAMES: Final = frozenset({"value", "old_value", "new_value", b"value", b"old_value", b"new_value"})
"""What stands beside a `key` or a `name`."""
_SHORTEST_CREDENTIAL: Final = 16
"""Of those that consist of letters, digits and underscores alone."""
_NUMBERS: Final = frozenset({int, float, bool})
"""Of these only the name can tell that they are secret."""


def redact_sensitive(data: Any, schema: Mapping[str, Any]) -> Any:
    """A copy of the data in which everything that the schema marks as sensitive is ``***REDACTED***`` (§10.6).

    Nothing in the copy is shared with the original; null and missing fields stay as they are.
    """
    return _copied(mask_sensitive(data, schema))


def redact(data: Any, schema: Mapping[str, Any] | None = None, keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> Any:
    """The data without what the schema marks, the values of sensitive keys and credentials in texts, at any depth.

    Only what changes is copied: every part that holds nothing sensitive comes back as the same object, and what changes
    comes back as JSON would hold it. Dataclasses and models are looked into by their fields; of any other object the
    text counts. What contains itself, or is nested too deeply to be looked through, is hidden as a whole.
    """
    known = frozenset(keys)
    if schema is None:
        return hidden_where_too_deep(_without, data, known)
    return hidden_where_too_deep(lambda value: _without(mask_sensitive(value, schema), known), data)


def _without(value: Any, keys: frozenset[str]) -> Any:
    if isinstance(value, str):
        return hide_credentials(value, keys)
    if isinstance(value, dict):
        return _fields_without(value, value, keys)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    fields = fields_of(value)
    if fields is not None:
        return _fields_without(value, fields, keys)
    elements = elements_of(value)
    if elements is not None:
        return _elements_without(value, elements, keys)
    text = text_of(value)
    shown = text and redact_text(text, keys)
    return value if shown == text else shown


def _fields_without(value: Any, fields: Mapping[Any, Any], keys: frozenset[str]) -> Any:
    """The same object, unless one of its fields changes: then they are an object of JSON."""
    cleaned: dict[Any, Any] | None = None
    secret_pair = ("key" in fields or "name" in fields) and _names_secret(fields, keys)
    for name, each in fields.items():
        if each is None:
            continue
        if means_secret(name, keys) or (secret_pair and name in _VALUE_NAMES):
            shown = REDACTED_VALUE
        elif type(each) in _NUMBERS:
            continue
        else:
            shown = _without(each, keys)
        if shown is not each:
            cleaned = dict(fields) if cleaned is None else cleaned
            cleaned[name] = shown
    shown_fields = fields if cleaned is None else cleaned
    if _hold_credentials(fields, keys):
        return {_without(name, keys): each for name, each in shown_fields.items()}
    return value if cleaned is None else cleaned


def _hold_credentials(names: Iterable[Any], keys: frozenset[str]) -> bool:
    for name in names:
        if (
            isinstance(name, str)
            and not (len(name) < _SHORTEST_CREDENTIAL and name.isidentifier())
            and hide_credentials(name, keys) is not name
        ):
            return True
    return False


def _names_secret(value: Mapping[Any, Any], keys: frozenset[str]) -> bool:
    """Whether this is a pair whose first part says that the second is secret: `{"key": "db.password", "value": …}`."""
    names = (value.get("key"), value.get("name"))
    return any(isinstance(each, str) and is_sensitive_path(each, keys) for each in names)


def _elements_without(value: Any, elements: list[Any], keys: frozenset[str]) -> Any:
    are_pairs = bool(elements) and all(isinstance(each, (list, tuple)) and len(each) == 2 for each in elements)
    cleaned = [
        [each[0], REDACTED_VALUE] if are_pairs and means_secret(each[0], keys) else _without(each, keys)
        for each in elements
    ]
    return value if all(new is old for new, old in zip(cleaned, elements, strict=True)) else cleaned


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(each) for each in value]
    return value
