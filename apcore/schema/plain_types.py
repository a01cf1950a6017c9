"""Types whose JSON value is already the Python value: they cost a call nothing (§5.11.5)."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

UNRESOLVED: Final = "unresolved"
"""The key in the details of an error whose cause is a name that may still come to mean something."""

_NAMES: Final[Mapping[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    None: "null",
    type(None): "null",
    dict: "object",
    list: "array",
}


@dataclass(frozen=True, slots=True)
class TypeDescription:
    """What one annotation means: its schema, and the way from and to JSON (None: the value is the same in both).

    ``load(name, value)`` names the input in the ``SchemaValidationError`` that it may raise.
    """

    schema: dict[str, Any]
    load: Callable[[str, Any], Any] | None = None
    dump: Callable[[Any], Any] | None = None


def plain_schema(annotation: Any) -> dict[str, Any] | None:
    """The schema of a type whose JSON value is the Python value; None if it is not such a type."""
    if annotation is Any or annotation is object:
        return {}
    if _is_hashable(annotation) and annotation in _NAMES:
        return {"type": _NAMES[annotation]}
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return _literal_schema(arguments)
    if origin is Union or origin is types.UnionType:
        return _union_schema(arguments)
    if origin in {list, dict} and not arguments:  # typing.List, typing.Dict
        return {"type": _NAMES[origin]}
    if origin is list:
        items = plain_schema(arguments[0])
        return None if items is None else {"type": "array", "items": items}
    if origin is dict and arguments[0] is str:
        values = plain_schema(arguments[1])
        return None if values is None else {"type": "object", "additionalProperties": values or True}
    return None


def is_annotated(annotation: Any) -> bool:
    """Whether the annotation carries metadata (``Annotated[…]``)."""
    return get_origin(annotation) is Annotated


def _literal_schema(values: tuple[Any, ...]) -> dict[str, Any] | None:
    kinds = {type(value) for value in values}
    if not kinds <= {str, int, bool, type(None)}:
        return None
    schema: dict[str, Any] = {"enum": list(values)}
    if len(kinds) == 1:
        schema = {"type": _NAMES[kinds.pop()], **schema}
    return schema


def _union_schema(members: tuple[Any, ...]) -> dict[str, Any] | None:
    schemas = [plain_schema(member) for member in members if member is not type(None)]
    known = [schema for schema in schemas if schema is not None]
    if len(known) < len(schemas):
        return None
    schema: dict[str, Any] = dict(known[0]) if len(known) == 1 else {"anyOf": known}
    if type(None) in members:
        schema["nullable"] = True
    return schema


def _is_hashable(annotation: Any) -> bool:
    try:
        hash(annotation)
    except TypeError:
        return False
    return True
