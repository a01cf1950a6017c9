"""Schemas for the strict mode of language models: closed objects, and every field required (§4.16)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from apcore.errors.requiring import require
from apcore.schema.extensions import is_annotation, is_extension
from apcore.schema.walk import with_subschemas

# Keywords that may refuse null without naming it: null becomes an alternative to them.
_REFUSING: Final = frozenset({"$ref", "$dynamicRef", "allOf", "oneOf", "not", "if"})


def to_strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in the form of strict mode; the given one is not changed (§4.16).

    Every object is closed and requires all its properties, at every level and in definitions; those that were optional
    take null. ``x-`` keywords, ``default`` and ``nullable`` (which becomes a type) are removed. An empty schema is any
    object (§4.15), and so in strict mode the empty one. What is wrong in a schema stays as it is, and ``check_schema``
    finds it. Raises InvalidInputError for what is no object.
    """
    require("schema", schema, Mapping, "an object")
    strict: dict[str, Any] = _strict(express_nullable(schema or {"type": "object", "properties": {}}))
    return strict


def express_nullable(schema: Any) -> Any:
    """The schema with ``nullable``, which is a word of this protocol (§5.11.5), as a type of Draft 2020-12."""
    if not isinstance(schema, Mapping):
        return schema
    kept = dict(schema)
    is_nullable = kept.pop("nullable", False) is True
    expressed = with_subschemas(kept, lambda _, inner: express_nullable(inner))
    return _with_null(expressed) if is_nullable else expressed


def _strict(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    kept = {keyword: value for keyword, value in schema.items() if not is_extension(keyword)}
    kept.pop("default", None)
    strict = with_subschemas(kept, lambda _, inner: _strict(inner))
    if _describes_object(strict):
        _close(strict)
    return strict


def _describes_object(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind) or "properties" in schema


def _close(schema: dict[str, Any]) -> None:
    schema["additionalProperties"] = False
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, Mapping):
        known = required if isinstance(required, list) else ()
        schema["properties"] = {name: each if name in known else _with_null(each) for name, each in properties.items()}
        schema["required"] = list(properties)


def _with_null(schema: Any) -> Any:
    """The schema with null as one more value that fits."""
    if schema is False:
        return {"type": "null"}
    if not isinstance(schema, Mapping):
        return schema
    if _REFUSING & schema.keys():
        words = {keyword: value for keyword, value in schema.items() if is_annotation(keyword)}
        rest = {keyword: value for keyword, value in schema.items() if not is_annotation(keyword)}
        return {"anyOf": [rest, {"type": "null"}], **words}
    return {keyword: value for each in schema.items() for keyword, value in _keyword_with_null(*each)}


def _keyword_with_null(keyword: str, value: Any) -> list[tuple[str, Any]]:
    if keyword == "type":
        kinds = value if isinstance(value, list) else [value]
        return [("type", value if "null" in kinds else [*kinds, "null"])]
    if keyword == "const" and value is not None:
        return [("enum", [value, None])]
    if keyword == "enum" and isinstance(value, list):
        return [("enum", value if None in value else [*value, None])]
    if keyword == "anyOf" and isinstance(value, list):
        return [("anyOf", value if {"type": "null"} in value else [*value, {"type": "null"}])]
    return [(keyword, value)]
