"""Arguments of the wrong type are refused where they come in, in words."""

from __future__ import annotations

from typing import Any

from apcore.errors.general import InvalidInputError


def require(what: str, value: object, kind: Any, words: str) -> None:
    """Raises InvalidInputError unless ``value`` is an instance of ``kind``, a type or a protocol.

    It names ``what`` was given and says in ``words`` what it must be. A class in the place of its instance is refused
    too, which a protocol alone would let pass.
    """
    if isinstance(value, type) or not isinstance(value, kind):
        given = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise InvalidInputError(f"{what} must be {words}, not {given}")
