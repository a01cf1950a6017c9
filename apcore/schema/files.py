"""Schema files: YAML or JSON, below one directory (§4.2, §4.11)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import yaml

from apcore.errors import SchemaNotFoundError, SchemaParseError
from apcore.ids import is_canonical_id
from apcore.schema.yaml_text import read_yaml, yaml_fault

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
        content = json.loads(text) if path.suffix == ".json" else read_yaml(text)
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
