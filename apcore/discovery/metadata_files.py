"""The file `{name}_meta.yaml` beside a module file (§5.2)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from apcore.discovery.settings import StrPath
from apcore.discovery.yaml_files import read_yaml, warn_about_unknown_keys
from apcore.errors import ModuleLoadError
from apcore.modules import NO_COMPANION, Companion, Deprecation, ResourceLimits, read_dependencies

_TEXT: Final = {"type": "string", "minLength": 1}
_TEXTS: Final = {"type": "array", "items": _TEXT}

METADATA_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "module_id": _TEXT,  # the path decides; these two may be written down for the reader
        "group": _TEXT,
        "description": _TEXT,
        "documentation": _TEXT,
        "entry_point": {"type": "string", "pattern": r"^[^:]+:[^:]+$"},
        "allowed_callers": _TEXTS,
        "dependencies": {"type": ["array", "object"]},
        "tags": _TEXTS,
        "version": _TEXT,
        "annotations": {"type": "object"},
        "examples": {"type": "array", "items": {"type": "object"}},
        "metadata": {"type": "object"},
        "deprecated": {"type": "boolean"},
        "deprecated_message": _TEXT,
        "replacement": _TEXT,
        "sunset_date": {"type": "string", "format": "date"},
        "resources": {"type": "object"},
    },
}


def metadata_file_of(file_path: StrPath) -> Path:
    """Where the metadata of a module file is, if it has any: `db_params.py` has `db_params_meta.yaml`."""
    path = Path(file_path)
    return path.with_name(f"{path.stem}_meta.yaml")


def load_metadata(file_path: StrPath) -> Companion:
    """What the metadata file beside a module file says; nothing if there is no such file (§5.2).

    Raises ModuleLoadError, naming the metadata file, for one that cannot be read or has a wrong value.
    """
    path = metadata_file_of(file_path)
    if not path.is_file():
        return NO_COMPANION
    # An empty "allowed_callers:" may mean everybody or nobody, so it has to be said.
    content = read_yaml(path, METADATA_SCHEMA, ModuleLoadError, never_null={"allowed_callers"})
    warn_about_unknown_keys(content, METADATA_SCHEMA, f"'{path}'")
    try:
        return _companion(content)
    except ValueError as error:
        raise ModuleLoadError(f"'{path}': {error}", details={"file": str(path)}, cause=error) from error


def _companion(content: Mapping[str, Any]) -> Companion:
    resources = content.get("resources")
    return Companion(
        description=content.get("description"),
        documentation=content.get("documentation"),
        entry_point=content.get("entry_point"),
        allowed_callers=_as_tuple(content.get("allowed_callers")),
        dependencies=read_dependencies(content.get("dependencies")),
        tags=_as_tuple(content.get("tags")),
        version=content.get("version"),
        annotations=content.get("annotations"),
        examples=_as_tuple(content.get("examples")),
        metadata=content.get("metadata", {}),
        deprecation=_deprecation(content),
        resources=None if resources is None else ResourceLimits.from_dict(resources),
    )


def _deprecation(content: Mapping[str, Any]) -> Deprecation | None:
    if not content.get("deprecated"):
        return None
    sunset = content.get("sunset_date")
    return Deprecation(
        content.get("deprecated_message"),
        content.get("replacement"),
        None if sunset is None else dt.date.fromisoformat(sunset),
    )


def _as_tuple(values: list[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
