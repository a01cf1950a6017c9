"""References across schema files (§4.11, §4.15)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from apcore.errors import SchemaCircularRefError, SchemaNotFoundError, SchemaParseError
from apcore.schema.extensions import is_annotation
from apcore.schema.files import SchemaFiles
from apcore.schema.refs import MAX_REF_DEPTH, pointer_to, resolve_pointer
from apcore.schema.walk import with_subschemas

CANONICAL_SCHEME: Final = "apcore://"
_DEFINITIONS: Final = ("definitions", "$defs")
# Definitions that use each other twice at every level would otherwise fill the memory.
_MAX_REFERENCES: Final = 10_000


def resolve_ref(
    ref_string: str,
    current_file: str | Path,
    schemas_dir: str | Path,
    visited_refs: Collection[str] = (),
    *,
    max_ref_depth: int = MAX_REF_DEPTH,
) -> Any:
    """The schema that a reference in a schema file leads to, with all further references replaced (§4.11).

    ``#/definitions/X`` is in the same file, ``./other.schema.yaml#/definitions/X`` is relative to it, and
    ``apcore://common.types.error/X`` is the definition X of the schema file of that ID. ``visited_refs`` are the
    references that led here.

    Raises ``SchemaCircularRefError`` for a circle and for more than ``max_ref_depth`` references in each other,
    ``SchemaNotFoundError`` for a target that does not exist or lies outside of ``schemas_dir``, and
    ``SchemaParseError`` for a file that cannot be read.
    """
    files = SchemaFiles(schemas_dir)
    visited = tuple(visited_refs)
    if ref_string in visited:
        raise _circle(ref_string, (*visited, ref_string))
    return Resolution(files, max_ref_depth).target(ref_string, Path(current_file).resolve(), visited)


@dataclass(frozen=True, slots=True)
class _Place:
    """A part of a file: ``pointer`` is a JSON Pointer."""

    file: Path
    pointer: str

    def __str__(self) -> str:
        return f"{self.file}#{self.pointer}"


class Resolution:
    """Replaces the references of one schema file; what comes out refers to nothing."""

    def __init__(self, files: SchemaFiles, max_ref_depth: int = MAX_REF_DEPTH) -> None:
        self._files = files
        self._max_ref_depth = max_ref_depth
        self._followed = 0

    def resolve(self, schema: Any, file: Path, path: tuple[str, ...] = ()) -> Any:
        """The schema, which stands in ``file``, with its references replaced; raises as ``resolve_ref``."""
        if not isinstance(schema, Mapping):
            return schema
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return with_subschemas(_without_definitions(schema), lambda _, inner: self.resolve(inner, file, path))
        target = self.target(reference, file, path)
        beside = self.resolve({name: each for name, each in schema.items() if name != "$ref"}, file, path)
        return _joined(target, beside)

    def target(self, reference: str, file: Path, path: tuple[str, ...]) -> Any:
        """What a reference in ``file`` leads to; ``path`` are the places that were passed on the way here."""
        self._count(file)
        place = self._place_of(reference, file)
        here = str(place)
        if here in path:
            raise _circle(reference, (*path, here))
        if len(path) >= self._max_ref_depth:
            raise _circle(reference, path, f"go deeper than {self._max_ref_depth}")
        part = self._part_at(place, reference)
        return self.resolve(part, place.file, (*path, here))

    def _place_of(self, reference: str, file: Path) -> _Place:
        if reference.startswith(CANONICAL_SCHEME):
            return self._canonical_place(reference)
        name, sign, fragment = reference.partition("#")
        if not name and not sign:
            raise SchemaParseError(f"A reference in '{file.name}' is empty", details={"file": str(file)})
        pointer = _pointer_in(fragment, reference)
        if not name:
            return _Place(file, pointer)
        if "://" in name:
            raise SchemaNotFoundError(
                f"'{reference}' is not below the schemas directory; nothing is fetched",
                details={"reference": reference},
            )
        return _Place(self._files.inside(file.parent / unquote(name)), pointer)

    def _canonical_place(self, reference: str) -> _Place:
        """``apcore://ID/Name`` is a definition, ``apcore://ID#/pointer`` any part, ``apcore://ID`` the whole file."""
        address, _, fragment = reference.removeprefix(CANONICAL_SCHEME).partition("#")
        canonical_id, _, name = address.partition("/")
        file = self._files.find(canonical_id)
        if file is None:
            raise SchemaNotFoundError(
                f"'{reference}': there is no schema file of '{canonical_id}'", details={"reference": reference}
            )
        if not name:
            return _Place(file, _pointer_in(fragment, reference))
        document = self._files.read(file)
        owner = next((each for each in _DEFINITIONS if name in (document.get(each) or {})), _DEFINITIONS[0])
        return _Place(file, pointer_to([owner, name]))

    def _part_at(self, place: _Place, reference: str) -> Any:
        try:
            return resolve_pointer(self._files.read(place.file), place.pointer)
        except SchemaNotFoundError as error:
            raise SchemaNotFoundError(
                f"'{reference}' leads nowhere: {error.message}",
                details={"reference": reference, "file": str(place.file)},
            ) from error

    def _count(self, file: Path) -> None:
        self._followed += 1
        if self._followed > _MAX_REFERENCES:
            raise SchemaParseError(
                f"'{file}' leads to more than {_MAX_REFERENCES} references", details={"file": str(file)}
            )


def _pointer_in(fragment: str, reference: str) -> str:
    pointer = unquote(fragment)
    if pointer and not pointer.startswith("/"):
        raise SchemaNotFoundError(f"'{reference}' is no JSON Pointer", details={"reference": reference})
    return pointer


def _without_definitions(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in schema.items() if name not in _DEFINITIONS}


def _joined(target: Any, beside: Mapping[str, Any]) -> Any:
    """Target and neighbours of a reference together: both hold (Draft 2020-12)."""
    if not beside:
        return target
    # words about a value simply replace those of the target
    words = {name: each for name, each in beside.items() if is_annotation(name) or name == "nullable"}
    if len(words) == len(beside) and isinstance(target, Mapping):
        return {**target, **words}
    rest = {name: each for name, each in beside.items() if name not in words}
    return {"allOf": [target, rest], **words}


def _circle(reference: str, path: Collection[str], fault: str = "form a circle") -> SchemaCircularRefError:
    way = " -> ".join(_in_short(each) for each in path)
    return SchemaCircularRefError(
        f"References {fault}: '{reference}' (by way of {way})", details={"reference": reference, "path": list(path)}
    )


def _in_short(place: str) -> str:
    file, _, pointer = place.partition("#")
    return f"{Path(file).name}#{pointer}"
