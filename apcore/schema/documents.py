"""Schemas from whatever a module declares them with (§4.1, §5.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from apcore.errors import SchemaParseError
from apcore.schema.refs import inline_definitions
from apcore.schema.types import describe_types, pydantic_types

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


def schema_document(source: Any, *, output: bool = False) -> dict[str, Any]:
    """The JSON Schema of a pydantic model class, another type (dataclass, TypedDict), a mapping, or None (``{}``).

    A type is described as in a signature (§5.11.5, for the direction that ``output`` tells), a mapping is copied.
    Raises ``SchemaParseError`` for anything else.
    """
    if source is None:
        return {}
    if isinstance(source, Mapping):
        document: dict[str, Any] = _copied(source)
        return document
    if isinstance(source, type) and hasattr(source, "model_json_schema"):
        return inline_definitions(pydantic_types().model_document(source, output=output))
    if isinstance(source, type):
        described, definitions = describe_types({source.__name__: source}, output=output)
        return inline_definitions(described[source.__name__].schema | definitions)
    raise SchemaParseError(f"A schema is a model class or a mapping, not {type(source).__name__}")


def _copied(value: Any) -> Any:
    """A copy down to the plain values; several times as fast as ``deepcopy``, which counts when thousands register."""
    kind = value.__class__
    if kind is dict:
        return {name: each if each.__class__ in _PLAIN else _copied(each) for name, each in value.items()}
    if kind is list:
        return [each if each.__class__ in _PLAIN else _copied(each) for each in value]
    if kind in _PLAIN:
        return value
    if isinstance(value, Mapping):  # asking an abstract class costs more than the copy of a small dict
        return {name: _copied(each) for name, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, (list, tuple)) else value
