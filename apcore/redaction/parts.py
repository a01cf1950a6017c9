"""What a value is made of, for whoever looks for secrets in it."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from apcore.schema import REDACTED_VALUE


def fields_of(value: Any) -> Mapping[Any, Any] | None:
    """The fields of what is made of named parts: a mapping, a named tuple, a dataclass, a pydantic model."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple):
        return dict(zip(names, value, strict=False)) if (names := getattr(value, "_fields", None)) else None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    if not isinstance(value, type) and isinstance(getattr(value, "model_fields_set", None), set):
        return dict(value)
    return None


def elements_of(value: Any) -> list[Any] | None:
    """The elements of what is a row or a set of values."""
    return list(value) if isinstance(value, (list, tuple, AbstractSet, deque)) else None


def text_of(value: Any) -> str | None:
    """A text, or that by which an object is shown that JSON does not know; None if there is no getting it.

    What is iterated over is not asked: a query, for one, would be made for it.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray)):
        return value.decode("latin-1")
    if hasattr(value, "__iter__"):
        return None
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - whatever its author did, nobody else will get a text out of it either
        return None


def hidden_where_too_deep(clean: Callable[..., Any], value: Any, *args: Any) -> Any:
    """`clean(value, …)`; what contains itself, or is nested too deeply to be looked through, is hidden as a whole."""
    try:
        return clean(value, *args)
    except RecursionError:
        if not isinstance(value, Mapping):
            return REDACTED_VALUE
        if len(value) == 1:
            return dict.fromkeys(value, REDACTED_VALUE)
        return {name: hidden_where_too_deep(clean, {name: each}, *args)[name] for name, each in value.items()}
