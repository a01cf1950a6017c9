"""JSON as it has to be before a person is asked to sign it: every value has one meaning, on every database."""

import json
import math
from collections.abc import Iterable
from typing import Any

from apcore.errors import InvalidInputError

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_LONGEST_INTEGER = 20  # characters of -9223372036854775808; longer ones are refused before they cost anything
_SURROGATES = range(0xD800, 0xE000)


def loads(body: bytes, *, max_depth: int) -> Any:
    """Parse one JSON document. Raises InvalidInputError, which says what is wrong and where.

    Refused besides bad syntax: a name that occurs twice in an object, NaN and infinities, integers beyond 64 bits, text
    with NUL or unpaired surrogates, and nesting deeper than `max_depth`.
    """
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_constant,
        )
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"The body is not UTF-8 (byte {error.start}).") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidInputError(f"The body is not JSON: {error.msg} ({where}).") from error
    except RecursionError as error:
        raise _too_deep(max_depth) from error
    _check_depth_and_text(value, max_depth)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise InvalidInputError(f"The name {_shortened(_first_repeated(pairs))} occurs twice in one object.")
    return result


def _first_repeated(pairs: list[tuple[str, Any]]) -> str:
    """In one pass: a body has room for a hundred thousand names, and the sender chooses which one is repeated."""
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            return name
        seen.add(name)
    raise AssertionError("no name is repeated")


def _integer(text: str) -> int:
    if len(text) > _LONGEST_INTEGER or not _SMALLEST <= int(text) <= _LARGEST:
        raise InvalidInputError(f"The integer {_shortened(text)} does not fit in 64 bits; send it as text.")
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise InvalidInputError(f"The number {_shortened(text)} is too large.")
    return number


def _constant(name: str) -> Any:
    raise InvalidInputError(f"{name} is not JSON.")


def _check_depth_and_text(value: Any, max_depth: int) -> None:
    level: list[Any] = [value]
    for _ in range(max_depth + 1):
        for item in level:
            if isinstance(item, str):
                _check_text(item)
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return
        level = [child for container in containers for child in _children(container)]
    raise _too_deep(max_depth)


def _children(container: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return (*container, *container.values()) if isinstance(container, dict) else container


def _check_text(text: str) -> None:
    if text.isascii():
        bad = "\0" in text
    else:
        bad = any(ord(letter) in _SURROGATES or letter == "\0" for letter in text)
    if bad:
        raise InvalidInputError("Text may contain neither NUL nor unpaired surrogates.")


def _too_deep(max_depth: int) -> InvalidInputError:
    return InvalidInputError(f"The body is nested deeper than {max_depth} levels.")


def _shortened(text: str) -> str:
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    return ascii(shown)
