"""Schemas from whatever a module declares them with (§4.1, §5.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from apcore.errors import SchemaParseError
from apcore.schema.refs import inline_definitions
from apcore.schema.types import describe_types

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


def schema_document(source: Any, *, output: bool = False) -> dict[str, Any]:
    """The JSON Schema of a pydantic model class, another type (dataclass, TypedDict), a mapping, or None (``{}``).

    A pydantic model describes itself (for the direction that ``output`` tells), a mapping is copied. Raises
    ``SchemaParseError`` for anything else.
    """
    if source is None:
        return {}
    if isinstance(source, Mapping):
        return {keyword: _copied(value) for keyword, value in source.items()}
    if isinstance(source, type) and hasattr(source, "model_json_schema"):
        document: dict[str, Any] = source.model_json_schema(mode="serialization" if output else "validation")
        return document
    if isinstance(source, type):
        described, definitions = describe_types({source.__name__: source}, output=output)
        return inline_definitions(described[source.__name__].schema | definitions)
    raise SchemaParseError(f"A schema is a model class or a mapping, not {type(source).__name__}")


def _copied(value: Any) -> Any:
    """A copy down to the plain values; several times as fast as ``deepcopy``, which counts when thousands register."""
    kind = value.__class__
    if kind in _PLAIN:
        return value
    if kind is dict or isinstance(value, Mapping):  # asking an abstract class costs more than the copy of a small dict
        return {name: each if each.__class__ in _PLAIN else _copied(each) for name, each in value.items()}
    return [_copied(each) for each in value] if kind is list or isinstance(value, (list, tuple)) else value
