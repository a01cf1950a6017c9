"""Schema files: YAML or JSON, below one directory (§4.2, §4.11)."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

import yaml

from apcore.errors import SchemaNotFoundError, SchemaParseError
from apcore.ids import is_canonical_id

SUFFIXES: Final = (".schema.yaml", ".schema.yml", ".schema.json")


class SchemaFiles:
    """The schema files below a directory, each read again when it changed.

    What lies outside of the directory is never read, whatever leads there.
    """

    def __init__(self, schemas_dir: str | Path) -> None:
        self.root = Path(schemas_dir).resolve()
        self._documents: dict[Path, tuple[tuple[int, int], dict[str, Any]]] = {}

    def find(self, canonical_id: str) -> Path | None:
        """The file of a canonical ID: ``a.b.c.schema.yaml``, or else ``a/b/c.schema.yaml`` (C-25)."""
        if not is_canonical_id(canonical_id):
            return None
        names = (canonical_id, canonical_id.replace(".", "/"))
        candidates = (self.root / f"{name}{suffix}" for name in names for suffix in SUFFIXES)
        found = next((each for each in candidates if each.is_file()), None)
        return None if found is None else self.inside(found)

    def inside(self, path: Path) -> Path:
        """The path without links and dots; raises ``SchemaNotFoundError`` if it leads out of the directory."""
        resolved = path.resolve()
        if not resolved.is_relative_to(self.root):
            raise SchemaNotFoundError(
                f"Schema file '{path}' is outside of the schemas directory", details={"file": str(path)}
            )
        return resolved

    def read(self, path: Path) -> dict[str, Any]:
        """The content of a file; raises as ``read_schema_file``."""
        known = self._documents.get(path)
        if known is None or known[0] != _state_of(path):
            known = self._documents[path] = (_state_of(path), read_schema_file(path))
        return known[1]


def _state_of(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


def read_schema_file(path: Path) -> dict[str, Any]:
    """The content of one file, YAML or (by its name) JSON.

    Raises ``SchemaNotFoundError`` if there is no such file, and ``SchemaParseError``, naming it, if it cannot be read
    or holds something else than an object (``details["cause"]`` is "timeout" if the storage did not answer in time).
    """
    if not path.is_file():
        raise SchemaNotFoundError(f"Schema file '{path}' does not exist", details={"file": str(path)})
    details = {"file": str(path)}
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except TimeoutError as error:
        raise SchemaParseError(
            f"Schema file '{path}' was not read in time", details={**details, "cause": "timeout"}, cause=error
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise SchemaParseError(f"Schema file '{path}' cannot be read: {error}", details=details, cause=error) from error
    except yaml.YAMLError as error:
        # Not from the error: its message shows lines of the file, which may hold a secret.
        raise SchemaParseError(f"Schema file '{path}' cannot be read: {yaml_fault(error)}", details=details) from None
    if not isinstance(content, dict):
        raise SchemaParseError(f"Schema file '{path}' is no object", details=details)
    return content


def yaml_fault(error: yaml.YAMLError) -> str:
    """What is wrong with a YAML text, and where, without anything that stands there."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return str(error).partition("\n")[0]
    reason = error.problem or error.context or "it is no YAML"
    for beginning, advice in _UNQUOTED.items():
        if reason.startswith(beginning):
            reason = advice
    mark = error.problem_mark or error.context_mark
    return reason if mark is None else f"{reason} (line {mark.line + 1}, column {mark.column + 1})"


_UNQUOTED: Final = {
    "found undefined alias": "found an alias of nothing; put a text that begins with * into quotes",
    "found duplicate anchor": "an anchor stands twice; put a text that begins with & into quotes",
    "could not determine a constructor": "found an unknown tag; put a text that begins with ! into quotes",
    "found undefined tag handle": "found an unknown tag; put a text that begins with ! into quotes",
}
"""What a password without quotes may look like to YAML: the message would repeat it."""


class _Loader(yaml.SafeLoader):
    """YAML with the values of JSON: dates stay texts, keys are texts, no key stands twice, and nothing contains itself.

    All that its aliases stand for is at most `_MOST_NODES` values: a few lines can otherwise stand for billions.
    """

    def get_single_data(self) -> Any:
        node = self.get_single_node()
        if node is None:
            return None
        _count(node, {}, set())
        return self.construct_document(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        given = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        repeated = next((key for index, key in enumerate(given) if key in given[:index]), None)
        if repeated is not None:
            raise yaml.constructor.ConstructorError(None, None, f"the key '{repeated}' stands twice", node.start_mark)
        mapping = super().construct_mapping(node, deep=deep)
        for key in mapping:
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is no text; put it in quotes", node.start_mark
                )
        return mapping


_MOST_NODES: Final = 1_000_000


def _count(node: yaml.Node, known: dict[int, int], inside: set[int]) -> int:
    """How many values a node stands for. Raises ConstructorError if it contains itself, or for too many."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) in inside:
        raise yaml.constructor.ConstructorError(None, None, "an alias stands for what contains it", node.start_mark)
    if id(node) not in known:
        inside.add(id(node))
        below = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
        known[id(node)] = 1 + sum(_count(each, known, inside) for each in below)
        inside.remove(id(node))
    if known[id(node)] > _MOST_NODES:
        raise yaml.constructor.ConstructorError(None, None, "the aliases stand for too many values", node.start_mark)
    return known[id(node)]


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
