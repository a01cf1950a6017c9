"""References inside one document (§4.11, §4.15)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

from apcore.errors import SchemaCircularRefError, SchemaNotFoundError
from apcore.schema.walk import IN_PLACE_KEYWORDS, all_schemas, subschemas, with_subschemas

MAX_REF_DEPTH: Final = 32
_ANCHORS: Final = ("$anchor", "$dynamicAnchor")


class References:
    """Where the references of a document lead: JSON Pointers, anchors, resources with an ``$id`` of their own."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._bases: dict[int, str] = {}
        self._resources: dict[str, Mapping[str, Any]] = {"": document}
        self._anchors: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._read(document, "")

    def target_of(self, schema: Mapping[str, Any]) -> Any:
        """What the schema refers to; None if it refers to nothing, or out of the document.

        Raises ``SchemaNotFoundError`` if the document should contain the target and does not.
        """
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        if not isinstance(reference, str):
            return None
        base = self._bases.get(id(schema), "")
        # not urljoin alone: it does not know that a URN can be a base
        resource, fragment = (base, reference[1:]) if reference[:1] == "#" else urldefrag(urljoin(base, reference))
        root = self._resources.get(resource)
        if root is None:
            return None
        if not fragment or fragment.startswith("/"):
            return resolve_pointer(root, unquote(fragment))
        if (resource, fragment) not in self._anchors:
            raise _not_found(reference)
        return self._anchors[resource, fragment]

    def check(self) -> None:
        """Every reference has a target, and none leads back to itself without a step into a value: trees are fine.

        Raises ``SchemaNotFoundError`` and ``SchemaCircularRefError``, also for more than 32 references in a row.
        """
        for schema in all_schemas(self._document):
            self._follow(schema, ())

    def trees(self) -> set[int]:
        """The identities of the targets that contain a reference to themselves, at any depth."""
        targets = [target for schema in all_schemas(self._document) if (target := self.target_of(schema)) is not None]
        return {id(target) for target in targets if id(target) in self._reachable(target)}

    def _read(self, schema: Mapping[str, Any], base: str) -> None:
        identifier = schema.get("$id")
        if isinstance(identifier, str):
            base = urldefrag(urljoin(base, identifier)).url
            self._resources[base] = schema
        self._bases[id(schema)] = base
        for keyword in _ANCHORS:
            if isinstance(schema.get(keyword), str):
                self._anchors[base, schema[keyword]] = schema
        for _, inner in subschemas(schema):
            if isinstance(inner, Mapping):
                self._read(inner, base)

    def _follow(self, schema: Any, path: tuple[int, ...]) -> None:
        if not isinstance(schema, Mapping):
            return
        target = self.target_of(schema)
        if target is not None:
            if id(target) in path or len(path) >= MAX_REF_DEPTH:
                raise SchemaCircularRefError(
                    f"References form a circle or go deeper than {MAX_REF_DEPTH}: '{schema.get('$ref')}'",
                    details={"reference": schema.get("$ref")},
                )
            self._follow(target, (*path, id(target)))
        if path:
            for inner in in_place(schema):
                self._follow(inner, path)

    def _reachable(self, target: Any) -> set[int]:
        found: set[int] = set()
        waiting = [target]
        while waiting:
            for schema in all_schemas(waiting.pop()):
                further = self.target_of(schema)
                if further is not None and id(further) not in found:
                    found.add(id(further))
                    waiting.append(further)
        return found


def in_place(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas inside this one that describe the same value."""
    return (inner for keyword, inner in subschemas(schema) if keyword in IN_PLACE_KEYWORDS)


def resolve_pointer(document: Any, pointer: str) -> Any:
    """The part of the document at a JSON Pointer (RFC 6901); raises ``SchemaNotFoundError`` if there is none."""
    part = document
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        try:
            part = part[int(name)] if isinstance(part, list) else part[name]
        except (KeyError, IndexError, ValueError, TypeError):
            raise _not_found(f"#{pointer}") from None
    return part


def pointer_to(path: Iterable[object]) -> str:
    """The JSON Pointer of a path of keys and indexes (RFC 6901)."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in path)


def inline_definitions(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with each reference replaced by its target, apart from targets that contain themselves (trees).

    Keywords beside a reference (``description``, ``default``, ``nullable``) win over those of the target; definitions
    that nothing refers to any more are dropped.
    """
    if "$defs" not in document:
        return dict(document)
    references = References(document)
    trees = references.trees()

    def inline(schema: Any) -> Any:
        if not isinstance(schema, Mapping):
            return schema
        target = references.target_of(schema)
        if not isinstance(target, Mapping) or id(target) in trees:
            return with_subschemas(schema, lambda _, inner: inline(inner))
        beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        return {**inline(target), **with_subschemas(beside, lambda _, inner: inline(inner))}

    inlined: dict[str, Any] = inline({keyword: value for keyword, value in document.items() if keyword != "$defs"})
    kept = {name: inline(each) for name, each in document.get("$defs", {}).items() if id(each) in trees}
    return _with_plain_root({**inlined, "$defs": kept}) if kept else inlined


def _with_plain_root(document: dict[str, Any]) -> dict[str, Any]:
    """A document that is a tree itself says at its top what it is, not only where that stands."""
    target = References(document).target_of(document)
    beside = {keyword: value for keyword, value in document.items() if keyword != "$ref"}
    return {**target, **beside} if isinstance(target, Mapping) else document


def _not_found(reference: str) -> SchemaNotFoundError:
    return SchemaNotFoundError(
        f"The schema refers to '{reference}', which it does not contain", details={"reference": reference}
    )
