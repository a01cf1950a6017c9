"""Which parts of a value its schema marks as sensitive (§4.3, §10.6)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from apcore.errors import SchemaNotFoundError
from apcore.schema.patterns import matches
from apcore.schema.refs import References, in_place

REDACTED_VALUE: Final = "***REDACTED***"

_ELEMENT_KEYWORDS: Final = ("items", "contains", "unevaluatedItems")


class SensitiveMask:
    """Puts ``***REDACTED***`` in place of everything that a schema marks; null stays null.

    A mark is ``x-sensitive: true`` or ``format: password``, in the schema itself or in any part of it that may apply:
    behind references, in branches and conditions, in items. Only what changes is copied.
    """

    __slots__ = ("_document", "_references")

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._references = References(document) if mentions_mark(document) else None

    def __call__(self, value: Any) -> Any:
        if self._references is None:
            return value
        return _mask(value, [self._document], self._references)


def mask_sensitive(value: Any, document: Mapping[str, Any]) -> Any:
    """The value as ``SensitiveMask(document)`` leaves it; keep the mask itself where many values share a schema."""
    return SensitiveMask(document)(value)


def mentions_mark(part: Any) -> bool:
    """Whether a mark stands anywhere in the document: a reference may lead to a place where no schema is expected."""
    kind = part.__class__
    if kind is str or kind is bool:
        return False  # most parts are words; asking an abstract class costs several times as much
    if kind is dict or isinstance(part, Mapping):
        return _is_marked(part) or any(map(mentions_mark, part.values()))
    return isinstance(part, (list, tuple)) and any(map(mentions_mark, part))


def _mask(value: Any, schemas: Sequence[Any], references: References) -> Any:
    if value is None or not schemas:
        return value
    applying = list(_applying(schemas, references))
    if any(_is_marked(schema) for schema in applying):
        return REDACTED_VALUE
    if isinstance(value, dict):
        masked = {name: _mask(each, _field_schemas(applying, name), references) for name, each in value.items()}
        return value if all(masked[name] is value[name] for name in value) else masked
    if isinstance(value, (list, tuple)):
        elements = [_mask(each, _element_schemas(applying, index), references) for index, each in enumerate(value)]
        return value if all(new is old for new, old in zip(elements, value, strict=True)) else elements
    return value


def _is_marked(schema: Mapping[str, Any]) -> bool:
    return schema.get("x-sensitive") is True or schema.get("format") == "password"


def _applying(schemas: Sequence[Any], references: References) -> Iterator[Mapping[str, Any]]:
    """The schemas and everything that they say about the same value."""
    waiting = list(schemas)
    seen: set[int] = set()
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, Mapping) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        waiting += in_place(schema)
        # masking is no place to judge the schema: a reference without target has nothing to add
        with contextlib.suppress(SchemaNotFoundError):
            waiting.append(references.target_of(schema))


def _field_schemas(applying: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    found: list[Any] = []
    for schema in applying:
        properties = schema.get("properties") or {}
        if name in properties:
            found.append(properties[name])
        else:
            found.append(schema.get("additionalProperties"))
            found.append(schema.get("unevaluatedProperties"))
        found += [each for pattern, each in (schema.get("patternProperties") or {}).items() if _matches(pattern, name)]
    return found


def _element_schemas(applying: Sequence[Mapping[str, Any]], index: int) -> list[Any]:
    found: list[Any] = []
    for schema in applying:
        first = schema.get("prefixItems") or []
        found += first[index : index + 1]
        found += [schema.get(keyword) for keyword in _ELEMENT_KEYWORDS]
    return found


def _matches(pattern: str, name: str) -> bool:
    try:
        return matches(pattern, str(name))
    except ValueError:  # not a pattern: rather mask too much
        return True
