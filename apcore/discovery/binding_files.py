"""The content of binding files (§5.12.2, §5.13.3)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from apcore.discovery.display import ResolvedModule
from apcore.discovery.leftovers import warn_about_bindings
from apcore.discovery.settings import BINDING_PATTERN, DiscoverySettings, StrPath
from apcore.discovery.yaml_files import read_yaml, warn_about_unknown_keys
from apcore.errors import BindingFileInvalidError
from apcore.ids import validate_canonical_id

logger = logging.getLogger("apcore.discovery")

Item = Mapping[str, Any]

_TEXT: Final = {"type": "string"}
_OBJECT: Final = {"type": "object"}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_SURFACE: Final = {"type": "object", "properties": {"alias": _TEXT, "description": _TEXT, "guidance": _TEXT}}

ITEM_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "module_id": _TEXT,
        "target_id": _TEXT,
        "description": _TEXT,
        "documentation": _TEXT,
        "input_schema": _OBJECT,
        "output_schema": _OBJECT,
        "auto_schema": {"type": "boolean"},
        "schema_ref": _TEXT,
        "annotations": _OBJECT,
        "tags": _TEXTS,
        "version": _TEXT,
        "metadata": _OBJECT,
        "display": {
            "type": "object",
            "properties": {
                "alias": _TEXT,
                "description": _TEXT,
                "documentation": _TEXT,
                "guidance": _TEXT,
                "tags": _TEXTS,
                "cli": {"type": "object", "properties": {**_SURFACE["properties"], "group": _TEXT}},  # type: ignore[dict-item]  # the surface is one of ours
                "mcp": _SURFACE,
                "a2a": _SURFACE,
            },
        },
    },
    "required": ["module_id"],
    # An item that binds nothing is there for its display section (C-48); one of both there must be.
    "anyOf": [{"required": ["target_id"]}, {"required": ["display"]}],
}

FILE_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"bindings": {"type": "array", "items": ITEM_SCHEMA}},
    "required": ["bindings"],
}


@dataclass(frozen=True, slots=True)
class BindingFile:
    """A binding file: `items` is the list below `bindings`."""

    file: Path
    items: tuple[Item, ...] = field(default=())

    @property
    def bound(self) -> list[Item]:
        """The items that make modules."""
        return [each for each in self.items if "target_id" in each]

    @property
    def displayed(self) -> dict[str, Item]:
        """The items that say how a module is presented, by ID."""
        return {each["module_id"]: each for each in self.items if "display" in each}


def read_binding_file(file: StrPath) -> BindingFile:
    """Read one file. Raises BindingFileInvalidError, naming it, and InvalidModuleIdError."""
    path = Path(file)
    content = read_yaml(path, FILE_SCHEMA, BindingFileInvalidError)
    for item in content["bindings"]:
        validate_canonical_id(item["module_id"])
        warn_about_unknown_keys(item, ITEM_SCHEMA, f"'{path}', item '{item['module_id']}'")
    return BindingFile(path, tuple(content["bindings"]))


def binding_files_in(directory: StrPath, pattern: str = BINDING_PATTERN) -> list[Path]:
    """The binding files of a directory, in alphabetical order; other YAML files there are warned about.

    Raises BindingFileInvalidError if it does not exist.
    """
    path = Path(directory)
    if not path.is_dir():
        raise BindingFileInvalidError(
            f"The directory of the bindings, '{path}', does not exist", details={"directory": str(path)}
        )
    warn_about_bindings(path, pattern)
    return sorted(each for each in path.glob(pattern) if each.is_file())


def configured_binding_files(settings: DiscoverySettings) -> list[Path]:
    """The files that a configuration means (§5.12.6): those in its directory, and those that it lists.

    A directory that it names and that does not exist is a warning: configurations are written before bindings.
    """
    directory = settings.bindings_dir
    found: list[Path] = []
    if directory is not None and directory.is_dir():
        found = binding_files_in(directory, settings.binding_pattern)
    elif settings.has_named_bindings:
        logger.warning("The directory of the bindings, '%s', does not exist", directory)
    return list(dict.fromkeys([*found, *settings.binding_files]))


def write_binding_file(file: StrPath, modules: Iterable[ResolvedModule]) -> None:
    """Write modules with the presentation that was resolved for them (§5.13.10). Raises OSError."""
    items = [_item(each) for each in modules]
    text = yaml.safe_dump({"bindings": items}, sort_keys=False, allow_unicode=True)
    Path(file).write_text(text, encoding="utf-8")


def _item(module: ResolvedModule) -> dict[str, Any]:
    annotations = module.annotations
    item = {
        "module_id": module.module_id,
        "target_id": module.target_id,
        "description": module.display.description,
        "input_schema": module.input_schema,
        "output_schema": module.output_schema,
        "version": module.version,
        "annotations": annotations
        if annotations is None or isinstance(annotations, Mapping)
        else annotations.to_dict(),
        "tags": list(module.display.tags),
        "display": _without_nulls(module.display.to_dict()),
    }
    return _without_nulls(item)


def _without_nulls(value: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: each for key, each in value.items() if each is not None}
    return {key: _without_nulls(each) if key in {"cli", "mcp", "a2a"} else _plain(each) for key, each in given.items()}


def _plain(value: Any) -> Any:
    """Mappings and sequences as YAML knows them."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, Sequence) and not isinstance(value, str) else value
