"""Where schemas stand inside schemas, in the vocabulary of Draft 2020-12 (§4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

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


class Subschema(NamedTuple):
    """A schema inside another one: the keyword it stands under, its JSON Pointer from the outer one, the schema."""

    keyword: str
    pointer: str
    schema: Any


def subschemas(schema: Mapping[str, Any]) -> Iterator[Subschema]:
    """The schemas that stand directly inside this one."""
    for keyword, value in schema.items():
        if keyword in _ONE:
            yield Subschema(keyword, f"/{keyword}", value)
        elif keyword in _MANY and isinstance(value, list):
            yield from (Subschema(keyword, f"/{keyword}/{index}", each) for index, each in enumerate(value))
        elif keyword in _NAMED and isinstance(value, Mapping):
            yield from (Subschema(keyword, f"/{keyword}/{escape(name)}", each) for name, each in value.items())


def with_subschemas(schema: Mapping[str, Any], change: Callable[[Subschema], Any]) -> dict[str, Any]:
    """A copy of the schema in which every schema directly inside it is replaced by what ``change`` makes of it."""
    changed = dict(schema)
    for keyword, value in schema.items():
        if keyword in _ONE:
            changed[keyword] = change(Subschema(keyword, f"/{keyword}", value))
        elif keyword in _MANY and isinstance(value, list):
            changed[keyword] = [
                change(Subschema(keyword, f"/{keyword}/{index}", each)) for index, each in enumerate(value)
            ]
        elif keyword in _NAMED and isinstance(value, Mapping):
            changed[keyword] = {
                name: change(Subschema(keyword, f"/{keyword}/{escape(name)}", each)) for name, each in value.items()
            }
    return changed


def escape(token: object) -> str:
    """One part of a JSON Pointer (RFC 6901)."""
    return str(token).replace("~", "~0").replace("/", "~1")
