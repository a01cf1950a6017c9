"""The ``x-`` keywords on the way to those who do not know them (§4.3, §4.17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from apcore.schema.walk import with_subschemas

_ANNOTATIONS: Final = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)


def is_extension(keyword: str) -> bool:
    """Whether a keyword is one of the protocol's or a user's own (§4.2)."""
    return keyword.startswith("x-")


def is_annotation(keyword: str) -> bool:
    """Whether the keyword allows and refuses nothing: it only says something about a value."""
    return keyword in _ANNOTATIONS or is_extension(keyword)


def strip_extensions(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy without ``x-`` keywords at any level; a property of such a name is a property, and stays."""
    stripped: dict[str, Any] = _strip(schema)
    return stripped


def prefer_llm_descriptions(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy in which ``x-llm-description`` also takes the place of ``description``, at every level (§4.3)."""
    preferred: dict[str, Any] = _prefer(schema)
    return preferred


def _strip(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    kept = {keyword: value for keyword, value in schema.items() if not is_extension(keyword)}
    return with_subschemas(kept, lambda _, inner: _strip(inner))


def _prefer(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    changed = with_subschemas(schema, lambda _, inner: _prefer(inner))
    if isinstance(schema.get("x-llm-description"), str):
        changed["description"] = schema["x-llm-description"]
    return changed
