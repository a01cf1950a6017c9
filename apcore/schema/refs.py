"""References inside one document (§4.11, §4.15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from apcore.errors import SchemaCircularRefError, SchemaNotFoundError
from apcore.schema.walk import IN_PLACE_KEYWORDS, Subschema, escape, subschemas, with_subschemas

MAX_REF_DEPTH: Final = 32


def local_pointer(schema: Mapping[str, Any]) -> str | None:
    """The JSON Pointer of the schema's ``$ref`` into its own document; None if it has none, or points elsewhere."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    return unquote(reference[1:])


def resolve_pointer(document: Mapping[str, Any], pointer: str) -> Any:
    """The part of the document at a JSON Pointer (RFC 6901); raises ``SchemaNotFoundError`` if there is none."""
    part: Any = document
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        try:
            part = part[int(name)] if isinstance(part, list) else part[name]
        except (KeyError, IndexError, ValueError, TypeError):
            raise SchemaNotFoundError(
                f"The schema refers to '#{pointer}', which it does not contain", details={"reference": f"#{pointer}"}
            ) from None
    return part


def check_references(document: Mapping[str, Any]) -> None:
    """Every reference into the document itself has a target, and none leads back to itself without a step into a value.

    A schema that contains itself (a tree) is fine. Raises ``SchemaNotFoundError`` and ``SchemaCircularRefError``, the
    latter also for a chain of more than 32 references.
    """
    for schema in _all_schemas(document):
        _follow(schema, document, ())


def inline_definitions(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with each reference replaced by its target, apart from targets that contain themselves (trees).

    Keywords beside a reference (``description``, ``default``, ``nullable``) win over those of the target; definitions
    that nothing refers to any more are dropped.
    """
    recursive = {pointer for pointer in _pointers_in(document) if pointer in _reachable(pointer, document)}

    def inline(schema: Any) -> Any:
        if not isinstance(schema, Mapping):
            return schema
        pointer = local_pointer(schema)
        if pointer is not None and pointer not in recursive:
            beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
            return inline({**resolve_pointer(document, pointer), **beside})
        return with_subschemas(schema, lambda inner: inline(inner.schema))

    inlined: dict[str, Any] = inline({keyword: value for keyword, value in document.items() if keyword != "$defs"})
    kept = {
        name: inline(each) for name, each in document.get("$defs", {}).items() if f"/$defs/{escape(name)}" in recursive
    }
    return inlined | ({"$defs": kept} if kept else {})


def _pointers_in(schema: Any) -> set[str]:
    return {pointer for each in _all_schemas(schema) if (pointer := local_pointer(each)) is not None}


def _reachable(pointer: str, document: Mapping[str, Any]) -> set[str]:
    """The targets of all references that can be reached from one."""
    found: set[str] = set()
    waiting = [pointer]
    while waiting:
        new = _pointers_in(resolve_pointer(document, waiting.pop())) - found
        found |= new
        waiting += new
    return found


def _all_schemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, Mapping):
        yield schema
        for each in subschemas(schema):
            yield from _all_schemas(each.schema)


def _follow(schema: Any, document: Mapping[str, Any], path: tuple[str, ...]) -> None:
    if not isinstance(schema, Mapping):
        return
    pointer = local_pointer(schema)
    if pointer is not None:
        if pointer in path or len(path) >= MAX_REF_DEPTH:
            raise SchemaCircularRefError(
                f"The schema's references form a circle or go deeper than {MAX_REF_DEPTH}: '#{pointer}'",
                details={"path": [f"#{each}" for each in (*path, pointer)]},
            )
        _follow(resolve_pointer(document, pointer), document, (*path, pointer))
    if path:
        for each in _in_place(schema):
            _follow(each.schema, document, path)


def _in_place(schema: Mapping[str, Any]) -> Iterator[Subschema]:
    return (each for each in subschemas(schema) if each.keyword in IN_PLACE_KEYWORDS)
