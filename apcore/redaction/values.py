"""The secrets of one call, wherever it passes them on."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from apcore.redaction.data import redact
from apcore.redaction.keys import DEFAULT_SENSITIVE_KEYS
from apcore.redaction.parts import elements_of, fields_of, hidden_where_too_deep, text_of
from apcore.schema import REDACTED_VALUE


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
        self._find(inputs, redact(inputs, schema, keys))

    @classmethod
    def of(
        cls, inputs: Any, mask: Callable[[Any], Any], keys: Collection[str] = DEFAULT_SENSITIVE_KEYS
    ) -> SensitiveValues:
        """Those of inputs whose schema says with ``mask`` (``CompiledSchema.mask``) what it marks."""
        shown = redact(mask(inputs), keys=keys)
        if shown is inputs:  # nothing is hidden: most calls have no secrets
            return NO_SECRETS
        values = cls()
        values._find(inputs, shown)
        return values

    def _find(self, inputs: Any, shown: Any) -> None:
        found = [each for each in _removed(inputs, shown) if len(str(each)) >= self._SHORTEST]
        self._numbers = frozenset(each for each in found if not isinstance(each, str))
        spelled = {text for each in found for text in _spellings(str(each))}
        self._texts = sorted(spelled, key=lambda text: (-len(text), text))

    def __bool__(self) -> bool:
        return bool(self._texts)

    def hide(self, value: Any) -> Any:
        """The value without them, at any depth: a number is replaced as a whole, a text where it holds one.

        What contains itself, or is nested too deeply to be looked through, is replaced as a whole.
        """
        return hidden_where_too_deep(self._hidden, value) if self else value

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._hide_in(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, (int, float)):
            return REDACTED_VALUE if value in self._numbers else value
        fields = fields_of(value)
        if fields is not None:
            return {name: self._hidden(each) for name, each in fields.items()}
        elements = elements_of(value)
        if elements is not None:
            return [self._hidden(each) for each in elements]
        text = text_of(value)
        shown = text and self._hide_in(text)
        return value if shown == text else shown

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


def _removed(value: Any, shown: Any) -> Iterator[str | int | float]:
    """Every text and number of the value that is not shown."""
    waiting, seen = [(value, shown)], set[int]()
    while waiting:
        value, shown = waiting.pop()
        if shown is value or id(value) in seen:
            continue
        fields, elements = fields_of(value), elements_of(value)
        if fields is not None:
            seen.add(id(value))
            kept = fields_of(shown) or {}
            waiting += [(each, kept.get(name, REDACTED_VALUE)) for name, each in fields.items()]
        elif elements is not None:
            seen.add(id(value))
            left = elements_of(shown) or [REDACTED_VALUE] * len(elements)
            waiting += zip(elements, left, strict=True)
        elif isinstance(value, (int, float)):
            if not isinstance(value, bool) and shown != value:
                yield value
        elif value is not None and (text := text_of(value)):
            yield text


def _spellings(text: str) -> set[str]:
    """A text as it is, on one line, and as it stands inside of JSON."""
    line = " ".join(text.split())
    return {text, line, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]} - {""}


NO_SECRETS: Final = SensitiveValues()
"""Of a call whose inputs hold none."""
