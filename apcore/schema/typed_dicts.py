"""``typing.TypedDict`` for pydantic, which takes only the one of ``typing_extensions`` before Python 3.12."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typing_extensions

_NEEDS_HELP = sys.version_info < (3, 12)


def readable(annotation: Any) -> Any:
    """The annotation with every ``typing.TypedDict`` in it as one of ``typing_extensions``; elsewhere unchanged."""
    return _converted(annotation, cache(_empty_copy)) if _NEEDS_HELP else annotation


def _converted(annotation: Any, copy_of: Callable[[Any], Any]) -> Any:
    if typing.is_typeddict(annotation):
        return _copied(annotation, copy_of)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if not arguments or origin is Literal or isinstance(arguments[0], list):  # a list: the parameters of a Callable
        return annotation
    if origin is Annotated:
        base, *metadata = arguments
        return Annotated[(_converted(base, copy_of), *metadata)]
    converted = tuple(_converted(each, copy_of) for each in arguments)
    if all(new is old for new, old in zip(converted, arguments, strict=True)):
        return annotation
    return Union[converted] if origin in {Union, types.UnionType} else origin[converted]  # noqa: UP007 - from a tuple


def _copied(original: Any, copy_of: Callable[[Any], Any]) -> Any:
    copy = copy_of(original)
    if not copy.__annotations__:
        # before the fields are looked at: one of them may be of this very type
        hints = typing.get_type_hints(original, include_extras=True)
        copy.__annotations__ = dict(hints)
        copy.__annotations__ = {name: _converted(hint, copy_of) for name, hint in hints.items()}
    return copy


def _empty_copy(original: Any) -> Any:
    copy: Any = typing_extensions.TypedDict(original.__name__, {})  # type: ignore[misc]  # made at run time
    for name in ("__module__", "__qualname__", "__doc__", "__total__", "__required_keys__", "__optional_keys__"):
        setattr(copy, name, getattr(original, name))
    return copy
