"""Hiding sensitive values before anything is shown, logged or stored (§10.6)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Final

from apcore.schema import REDACTED_VALUE, mask_sensitive

__all__ = ["DEFAULT_SENSITIVE_KEYS", "REDACTED_VALUE", "is_sensitive_key", "redact", "redact_sensitive"]

DEFAULT_SENSITIVE_KEYS: Final[frozenset[str]] = frozenset(
    {
        "access_key",
        "api_key",
        "authorization",
        "cookie",
        "credentials",
        "passphrase",
        "passwd",
        "password",
        "private_key",
        "pwd",
        "secret",
        "secret_key",
        "session_id",
        "token",
    }
)

_CAMEL_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def redact_sensitive(data: Any, schema: Mapping[str, Any]) -> Any:
    """A copy of the data in which everything that the schema marks as sensitive is ``***REDACTED***`` (§10.6).

    Nothing in the copy is shared with the original; null and missing fields stay as they are.
    """
    return _copied(mask_sensitive(data, schema))


def redact(data: Any, schema: Mapping[str, Any] | None = None, keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> Any:
    """The data without what the schema marks and without the values of sensitive keys, at any depth.

    Only what changes is copied: data that holds nothing sensitive comes back as the same object.
    """
    marked = data if schema is None else mask_sensitive(data, schema)
    return _without(marked, frozenset(keys))


def is_sensitive_key(key: str, keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> bool:
    """Whether a name means a secret: it is one of ``keys``, or ends in one as a word of its own.

    Letter case, ``-`` and camel case make no difference, and of a dotted path the last part counts: ``db.userPassword``
    and ``X-Api-Key`` are sensitive, ``max_tokens`` is not.
    """
    return _means_secret(key, frozenset(keys))


@lru_cache(maxsize=4096)
def _means_secret(key: str, keys: frozenset[str]) -> bool:
    words = _CAMEL_CASE.sub("_", key.rpartition(".")[2]).replace("-", "_").replace(" ", "_").lower()
    return any(words == known or words.endswith(f"_{known}") for known in map(str.lower, keys))


def _without(value: Any, keys: frozenset[str]) -> Any:
    if isinstance(value, dict):
        cleaned = {name: _field_without(name, each, keys) for name, each in value.items()}
        return value if all(cleaned[name] is value[name] for name in value) else cleaned
    if isinstance(value, (list, tuple)):
        elements = [_without(each, keys) for each in value]
        return value if all(new is old for new, old in zip(elements, value, strict=True)) else elements
    return value


def _field_without(name: Any, value: Any, keys: frozenset[str]) -> Any:
    if value is not None and isinstance(name, str) and _means_secret(name, keys):
        return REDACTED_VALUE
    return _without(value, keys)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(each) for each in value]
    return value
