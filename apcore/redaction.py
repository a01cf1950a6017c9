"""Hiding sensitive values before anything is shown, logged or stored (§10.6)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from apcore.schema import REDACTED_VALUE, mask_sensitive

__all__ = [
    "DEFAULT_SENSITIVE_KEYS",
    "NO_SECRETS",
    "REDACTED_VALUE",
    "SensitiveValues",
    "is_sensitive_key",
    "redact",
    "redact_sensitive",
]

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

_VALUE_NAMES: Final = ("value", "old_value", "new_value")
"""What stands beside a `key` or a `name`."""

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


class SensitiveValues:
    """The sensitive values of a call's inputs, to be hidden wherever the call passes them on.

    A module writes a PIN into a row, a mail, its output: places that no schema marks. Whatever has fewer than four
    characters is left alone, since it stands for too much else and hides nothing.
    """

    __slots__ = ("_numbers", "_texts")

    _SHORTEST: Final = 4

    def __init__(
        self,
        inputs: Any = None,
        schema: Mapping[str, Any] | None = None,
        keys: Collection[str] = DEFAULT_SENSITIVE_KEYS,
    ) -> None:
        found = [each for each in _removed(inputs, redact(inputs, schema, keys)) if len(str(each)) >= self._SHORTEST]
        self._numbers = frozenset(each for each in found if not isinstance(each, str))
        spelled = {text for each in found for text in _spellings(str(each))}
        self._texts = sorted(spelled, key=lambda text: (-len(text), text))

    def __bool__(self) -> bool:
        return bool(self._texts)

    def hide(self, value: Any) -> Any:
        """The value without them, at any depth: a number is replaced as a whole, a text where it holds one."""
        if not self:
            return value
        if isinstance(value, str):
            return self._hide_in(value)
        if isinstance(value, dict):
            return {name: self.hide(each) for name, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.hide(each) for each in value]
        return REDACTED_VALUE if not isinstance(value, bool) and value in self._numbers else value

    def _hide_in(self, text: str) -> str:
        for secret in self._texts:
            text = text.replace(secret, REDACTED_VALUE)
            if "…" in text:
                text = self._hide_beginning(text, secret)
        return text

    def _hide_beginning(self, text: str, secret: str) -> str:
        """Summaries are cut, and what is left before the dots may be the better part of a secret."""
        for length in range(len(secret) - 1, self._SHORTEST - 1, -1):
            text = text.replace(f"{secret[:length]}…", f"{REDACTED_VALUE}…")
        return text


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
        if _names_secret(value, keys):
            cleaned |= {name: REDACTED_VALUE for name in _VALUE_NAMES if value.get(name) is not None}
        return value if all(cleaned[name] is value[name] for name in value) else cleaned
    if isinstance(value, (list, tuple)):
        elements = [_without(each, keys) for each in value]
        return value if all(new is old for new, old in zip(elements, value, strict=True)) else elements
    return value


def _names_secret(value: Mapping[Any, Any], keys: frozenset[str]) -> bool:
    """Whether this is a pair whose first part says that the second is secret: `{"key": "db.password", "value": …}`."""
    names = (value.get("key"), value.get("name"))
    return any(isinstance(each, str) and _means_secret(each, keys) for each in names)


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


def _removed(value: Any, shown: Any) -> Iterator[str | int | float]:
    """Every text and number of the value that is not shown."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _removed(each, shown[name] if isinstance(shown, dict) else REDACTED_VALUE)
    elif isinstance(value, (list, tuple)):
        for index, each in enumerate(value):
            yield from _removed(each, REDACTED_VALUE if isinstance(shown, str) else shown[index])
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool) and shown != value:
        yield value


def _spellings(text: str) -> set[str]:
    """A text as it is, on one line, and as it stands inside of JSON."""
    line = " ".join(text.split())
    return {text, line, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]} - {""}


NO_SECRETS: Final = SensitiveValues()
"""Of a call whose inputs hold none."""
