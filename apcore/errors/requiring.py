"""Arguments of the wrong type or size are refused where they come in, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from apcore.errors.general import InvalidInputError


def require(what: str, value: object, kind: Any, words: str) -> None:
    """Raises InvalidInputError unless ``value`` is an instance of ``kind``, a type or a protocol.

    It names ``what`` was given and says in ``words`` what it must be. A class in the place of its instance is refused
    too, which a protocol alone would let pass.
    """
    if isinstance(value, type) or not isinstance(value, kind):
        raise InvalidInputError(f"{what} must be {words}, not {kind_given(value)}")


def kind_given(value: object) -> str:
    """How a message names what was given: by its type, or as the class that stands where an instance should."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def require_texts(what: str, values: object) -> tuple[str, ...]:
    """The texts as a tuple. Raises InvalidInputError for a single text, which is no list, and for anything else."""
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise InvalidInputError(f"{what} must be a list of texts, not {values!r}")
    texts = tuple(values)
    for text in texts:
        if not isinstance(text, str):
            raise InvalidInputError(f"{what} must be a list of texts; {text!r} is none")
    return texts


def require_number(what: str, value: object, low: float, high: float = math.inf, *, whole: bool = False) -> None:
    """Raises InvalidInputError unless ``value`` is a number, or a whole one, from ``low`` to ``high``."""
    kinds = int if whole else int | float
    if not isinstance(value, kinds) or isinstance(value, bool) or not low <= value <= high:
        kind = "whole number" if whole else "number"
        limits = f"from {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        raise InvalidInputError(f"{what} must be a {kind} {limits}, not {value!r}")
