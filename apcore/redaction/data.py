"""Data without its secrets; what holds none is not copied."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from apcore.redaction.keys import DEFAULT_SENSITIVE_KEYS, is_sensitive_path, means_secret
from apcore.redaction.texts import hide_credentials
from apcore.schema import REDACTED_VALUE, mask_sensitive

_VALUE_NAMES: Final = ("value", "old_value", "new_value")
"""What stands beside a `key` or a `name`."""


def redact_sensitive(data: Any, schema: Mapping[str, Any]) -> Any:
    """A copy of the data in which everything that the schema marks as sensitive is ``***REDACTED***`` (§10.6).

    Nothing in the copy is shared with the original; null and missing fields stay as they are.
    """
    return _copied(mask_sensitive(data, schema))


def redact(data: Any, schema: Mapping[str, Any] | None = None, keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> Any:
    """The data without what the schema marks, the values of sensitive keys and credentials in texts, at any depth.

    Only what changes is copied: every part that holds nothing sensitive comes back as the same object.
    """
    marked = data if schema is None else mask_sensitive(data, schema)
    return _without(marked, frozenset(keys))


def _without(value: Any, keys: frozenset[str]) -> Any:
    if isinstance(value, str):
        return hide_credentials(value, keys)
    if isinstance(value, dict):
        return _fields_without(value, keys)
    if isinstance(value, (list, tuple)):
        return _elements_without(value, keys)
    return value


def _fields_without(value: dict[Any, Any], keys: frozenset[str]) -> dict[Any, Any]:
    cleaned: dict[Any, Any] | None = None
    secret_pair = ("key" in value or "name" in value) and _names_secret(value, keys)
    for name, each in value.items():
        if each is None:
            continue
        shown = REDACTED_VALUE if _is_secret(name, keys, secret_pair) else _without(each, keys)
        if shown is not each:
            cleaned = dict(value) if cleaned is None else cleaned
            cleaned[name] = shown
    return value if cleaned is None else cleaned


def _is_secret(name: Any, keys: frozenset[str], secret_pair: bool) -> bool:
    return isinstance(name, str) and (means_secret(name, keys) or (secret_pair and name in _VALUE_NAMES))


def _names_secret(value: Mapping[Any, Any], keys: frozenset[str]) -> bool:
    """Whether this is a pair whose first part says that the second is secret: `{"key": "db.password", "value": …}`."""
    names = (value.get("key"), value.get("name"))
    return any(isinstance(each, str) and is_sensitive_path(each, keys) for each in names)


def _elements_without(value: list[Any] | tuple[Any, ...], keys: frozenset[str]) -> Any:
    elements = [_without(each, keys) for each in value]
    return value if all(new is old for new, old in zip(elements, value, strict=True)) else elements


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(each) for each in value]
    return value
