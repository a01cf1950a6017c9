"""What the configuration says about finding modules (§3, §5.12.6, §9.1)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from apcore.config import Config
from apcore.errors import ConfigError
from apcore.schema import MAX_REF_DEPTH, SchemaLoader

DEFAULT_MAX_DEPTH: Final = 8
LARGEST_MAX_DEPTH: Final = 16
BINDING_PATTERN: Final = "*.binding.yaml"

StrPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """What a scan follows, and what it leaves out (§3.4, §3.5, §3.6).

    `ignore_patterns` are matched against names, and add to those that are always ignored. Raises ConfigError for a
    depth outside of 1 to 16 (C-61).
    """

    follow_symlinks: bool = False
    max_depth: int = DEFAULT_MAX_DEPTH
    ignore_patterns: tuple[str, ...] = ()
    supported_extensions: tuple[str, ...] = (".py",)

    def __post_init__(self) -> None:
        _require("extensions.follow_symlinks", self.follow_symlinks, bool)
        _require("extensions.max_depth", self.max_depth, int)
        for name in ("ignore_patterns", "supported_extensions"):
            object.__setattr__(self, name, _texts(f"extensions.{name}", getattr(self, name)))
        if not 1 <= self.max_depth <= LARGEST_MAX_DEPTH:
            raise ConfigError(
                f"extensions.max_depth is from 1 to {LARGEST_MAX_DEPTH}, not {self.max_depth}",
                details={"field": "extensions.max_depth"},
            )

    @classmethod
    def read(cls, config: Any) -> ScanSettings:
        """From a configuration, from its section `extensions` alone, or from nothing."""
        if isinstance(config, ScanSettings):
            return config
        given: dict[str, Any] = {}
        for each in fields(cls):
            value = configured(config, f"extensions.{each.name}", configured(config, each.name, None))
            if value is not None:
                given[each.name] = value
        return cls(**given)


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """Where modules, bindings, conventions and schema files are; `commands` is None where conventions are not used.

    `has_named_bindings` tells a directory that somebody wrote down, which should exist, from the default one (§5.12.6).
    `lazy_load` is on only where somebody wrote that down: what is broken is known when a process starts, and a default
    does not put that off.
    """

    roots: tuple[Path, ...]
    scan: ScanSettings = field(default_factory=ScanSettings)
    multi_class: bool = False
    schemas: SchemaLoader | None = None
    bindings_dir: Path | None = None
    binding_files: tuple[Path, ...] = ()
    binding_pattern: str = BINDING_PATTERN
    has_named_bindings: bool = False
    commands: Path | None = None
    lazy_load: bool = False

    @classmethod
    def read(cls, config: Any) -> DiscoverySettings:
        """From a configuration (a mapping, or an object with `get(key, default)`), or from one or several root
        directories, whose project is the directory above the first.

        Raises ConfigError for values that make no sense.
        """
        if isinstance(config, DiscoverySettings):
            return config
        if isinstance(config, str | os.PathLike):
            return _of_project([Path(config)], {})
        if isinstance(config, Iterable) and not isinstance(config, Mapping):
            return _of_project([Path(each) for each in config], {})
        return _of_project([], config)


def configured(config: Any, key: str, default: Any) -> Any:
    """The value of a dotted key; `config` is a mapping of sections, an object with `get(key, default)`, or None.

    Of a `Config` only what somebody gave counts: a directory that was named should exist, a default one need not.
    """
    if config is None:
        return default
    if isinstance(config, Config):
        path = f"apcore.{key}" if config.mode == "namespace" else key
        return config.get(path) if config.is_set(path) else default
    if not isinstance(config, Mapping):
        if not callable(getattr(config, "get", None)):
            raise ConfigError(f"{config!r} is no configuration: it has no get(key, default)")
        value = config.get(key, default)
        return default if value is None else value
    value = config.get("apcore", config) if isinstance(config.get("apcore"), Mapping) else config
    for part in key.split("."):
        if not isinstance(value, Mapping) or value.get(part) is None:
            return default
        value = value[part]
    return value


def _of_project(roots: list[Path], config: Any) -> DiscoverySettings:
    project = roots[0].parent if roots else Path()
    directory = configured(config, "bindings.dir", None)
    files = _texts("bindings.files", configured(config, "bindings.files", ()))
    # Files that are listed take the place of the default directory, and come on top of one that is named.
    looks_in_directory = directory is not None or not files
    return DiscoverySettings(
        roots=tuple(roots) or (_path("extensions.root", configured(config, "extensions.root", "./extensions")),),
        scan=ScanSettings.read(config),
        multi_class=_switch(config, "extensions.multi_class"),
        schemas=_schemas(project, config),
        bindings_dir=_path("bindings.dir", directory or project / "bindings") if looks_in_directory else None,
        binding_files=tuple(Path(each) for each in files),
        binding_pattern=_require("bindings.pattern", configured(config, "bindings.pattern", BINDING_PATTERN), str),
        has_named_bindings=directory is not None,
        commands=_commands(project, config),
        lazy_load=_switch(config, "extensions.lazy_load"),
    )


def _commands(project: Path, config: Any) -> Path | None:
    if not _switch(config, "conventions.enabled"):
        return None
    return _path("conventions.dir", configured(config, "conventions.dir", project / "commands"))


def _schemas(project: Path, config: Any) -> SchemaLoader:
    named = configured(config, "schema.root", configured(config, "schema.paths.yaml_schemas", project / "schemas"))
    depth = _require("schema.max_ref_depth", configured(config, "schema.max_ref_depth", MAX_REF_DEPTH), int)
    return SchemaLoader(
        _path("schema.root", named), depth, strategy=configured(config, "schema.strategy", "yaml_first")
    )


def _switch(config: Any, key: str) -> bool:
    """On or off; a text such as "no" would count as on, and is refused."""
    return bool(_require(key, configured(config, key, False), bool))


def _path(key: str, value: Any) -> Path:
    return Path(_require(key, value, str | os.PathLike))


def _texts(key: str, values: Any) -> tuple[str, ...]:
    for each in _require(key, values, list | tuple):
        _require(key, each, str | os.PathLike)
    return tuple(values)


def _require(key: str, value: Any, kind: Any) -> Any:
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise ConfigError(f"{key} has the wrong type {type(value).__name__}", details={"field": key})
