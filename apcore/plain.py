"""A JSON-ready copy of any value: for what has to be shown, sent or written whatever it holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import date, time
from typing import Any, Final

_DEEPEST: Final = 100
"""Levels below which nothing is copied; what reads JSON is often recursive, and stops not far beyond."""

_MOST_BITS: Final = 10_000
"""Python refuses to write numbers of more than 4,300 digits."""


def plain(value: Any, *, told: Callable[[Any], str] | None = None) -> Any:
    """The value as JSON can hold it; never raises.

    What JSON has no form for becomes its text, a date its ISO form, a number that is none null, and an exception the
    name of its type, since its text may hold a secret; ``told`` says something else of it. What contains itself, or
    lies deeper than 100 levels, is left out with a word about it.
    """
    return _plain(value, (), told or _text)


def _plain(value: Any, around: tuple[int, ...], told: Callable[[Any], str]) -> Any:
    if value is None or type(value) in (str, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        bits = value.bit_length()
        return int(value) if bits < _MOST_BITS else f"(a number of {bits} bits)"
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, (Mapping, list, tuple, AbstractSet)):
        if id(value) in around:
            return "(contains itself)"
        if len(around) == _DEEPEST:
            return "(too deep)"
        inside = (*around, id(value))
        if isinstance(value, Mapping):
            return {_name(name, told): _plain(each, inside, told) for name, each in value.items()}
        return [_plain(each, inside, told) for each in value]
    return told(value)


def _name(value: Any, told: Callable[[Any], str]) -> str:
    return str(value) if value is None or isinstance(value, (str, int, float)) else told(value)


def _text(value: Any) -> str:
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (BaseException, bytes, bytearray)):
        return type(value).__name__
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - whatever its author did; a value is shown to tell of something else
        return type(value).__name__
