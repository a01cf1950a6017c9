"""Fields that go out of use, as ``x-deprecated`` marks them (§4.12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apcore.schema.refs import References, in_place, pointer_to


@dataclass(frozen=True, slots=True)
class DeprecatedField:
    """A field of a value that its schema calls deprecated: where it is (JSON Pointer), and what the mark says."""

    path: str
    since: str | None = None
    removal: str | None = None
    replacement: str | None = None
    message: str | None = None

    def __str__(self) -> str:
        parts = (
            f"The field '{self.path}' is deprecated" + (f" since {self.since}" if self.since else ""),
            self.removal and f"it will be removed in {self.removal}",
            self.replacement and f"use '{self.replacement}'",
            self.message,
        )
        return "; ".join(part for part in parts if part)


class DeprecatedFields:
    """Finds the fields of a value that are marked, behind references, in branches and in items too."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._references = References(document) if _mentions_mark(document) else None

    def __bool__(self) -> bool:
        return self._references is not None

    def in_value(self, value: Any) -> list[DeprecatedField]:
        """The marked fields that the value uses, each once."""
        if self._references is None:
            return []
        found = {each.path: each for each in self._used(value, self._document, (), ())}
        return list(found.values())

    def _used(
        self, value: Any, schema: Any, path: tuple[object, ...], passed: tuple[int, ...]
    ) -> Iterator[DeprecatedField]:
        """``passed`` are the schemas that already spoke about this very value."""
        if not isinstance(schema, Mapping) or id(schema) in passed:
            return
        assert self._references is not None
        mark = schema.get("x-deprecated")
        if mark and path:
            yield _field(path, mark)
        for inner in (*in_place(schema), self._references.target_of(schema)):
            yield from self._used(value, inner, path, (*passed, id(schema)))
        for name, part, each in _parts(value, schema):
            yield from self._used(each, part, (*path, name), ())


def deprecated_fields(schema: Mapping[str, Any], value: Any) -> list[DeprecatedField]:
    """The fields of the value that the schema marks with ``x-deprecated`` (§4.12)."""
    return DeprecatedFields(schema).in_value(value)


def _mentions_mark(part: Any) -> bool:
    if isinstance(part, Mapping):
        return bool(part.get("x-deprecated")) or any(_mentions_mark(each) for each in part.values())
    return isinstance(part, list) and any(_mentions_mark(each) for each in part)


def _parts(value: Any, schema: Mapping[str, Any]) -> Iterator[tuple[object, Any, Any]]:
    """The parts of a value with the schemas that describe them: name or index, schema, part."""
    if isinstance(value, Mapping):
        fields = schema.get("properties") or {}
        further = schema.get("additionalProperties")
        yield from ((name, fields.get(name, further), each) for name, each in value.items())
    elif isinstance(value, (list, tuple)):
        first = schema.get("prefixItems") or ()
        further = schema.get("items")
        for index, each in enumerate(value):
            yield index, first[index] if index < len(first) else further, each


def _field(path: tuple[object, ...], mark: Any) -> DeprecatedField:
    texts = mark if isinstance(mark, Mapping) else {}
    given = {name: texts.get(name) for name in ("since", "removal", "replacement", "message")}
    return DeprecatedField(
        pointer_to(path), **{name: str(each) if each is not None else None for name, each in given.items()}
    )
