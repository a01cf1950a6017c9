"""Where schemas stand inside schemas, in the vocabulary of Draft 2020-12 (§4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

# Keywords whose subschemas describe the same value, not a part of it.
IN_PLACE_KEYWORDS: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})

_ONE: Final = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_MANY: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})


def subschemas(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas that stand directly inside this one, with the keyword that each stands under."""
    for keyword, value in schema.items():
        if keyword in _ONE:
            yield keyword, value
        elif keyword in _MANY and isinstance(value, list):
            yield from ((keyword, each) for each in value)
        elif keyword in _NAMED and isinstance(value, Mapping):
            yield from ((keyword, each) for each in value.values())


def all_schemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The schema and every schema inside it, at any depth; plain True and False are left out."""
    if isinstance(schema, Mapping):
        yield schema
        for _, inner in subschemas(schema):
            yield from all_schemas(inner)


def with_subschemas(schema: Mapping[str, Any], change: Callable[[str, Any], Any]) -> dict[str, Any]:
    """A copy of the schema in which ``change(keyword, inner)`` takes the place of every schema directly inside it."""
    changed = dict(schema)
    for keyword, value in schema.items():
        if keyword in _ONE:
            changed[keyword] = change(keyword, value)
        elif keyword in _MANY and isinstance(value, list):
            changed[keyword] = [change(keyword, each) for each in value]
        elif keyword in _NAMED and isinstance(value, Mapping):
            changed[keyword] = {name: change(keyword, each) for name, each in value.items()}
    return changed
