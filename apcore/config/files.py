"""Configuration files: where they are, and reading them (§9.14)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apcore.errors import ConfigError, ConfigNotFoundError, ModuleError, SchemaNotFoundError, SchemaParseError
from apcore.schema import check_schema, read_schema_file


def discover_config_file(environ: Mapping[str, str] | None = None) -> Path | None:
    """The file that counts when none is named, or None (§9.14).

    In this order: `$APCORE_CONFIG_FILE`, `project.yaml`, `project.yml`, `apcore.yaml`, `apcore.yml` in the working
    directory, `config.yaml` in the user's configuration directory, `~/.apcore/config.yaml`. A file that the variable
    names counts whether it exists or not: reading it raises ConfigNotFoundError.
    """
    environ = os.environ if environ is None else environ
    named = environ.get("APCORE_CONFIG_FILE")
    if named:
        return Path(named).expanduser()
    return next((each for each in _candidates(environ) if each.is_file()), None)


def file_path(path: str | os.PathLike[str]) -> Path:
    """The path, if it is one. Raises ConfigError for another type, and for a text that can name no file."""
    if not isinstance(path, str | os.PathLike):
        raise ConfigError(f"A configuration file is named by a text or a path, not by {type(path).__name__}")
    if path == "" or "\0" in os.fspath(path):
        raise ConfigError(f"{path!r} can be the name of no configuration file")
    return Path(path)


def read_config_file(path: Path) -> dict[str, Any]:
    """The content of a configuration file.

    Raises ConfigNotFoundError, and ConfigError for what is no YAML or no mapping.
    """
    details = {"file": str(path)}
    try:
        if path.is_file() and not path.read_bytes().strip():
            return {}
        return read_schema_file(path)
    except SchemaNotFoundError as error:
        raise ConfigNotFoundError(
            f"There is no configuration file '{path}'. Name an existing one, or leave it out to work with the defaults",
            details=details,
        ) from error
    except (SchemaParseError, OSError) as error:
        reason = error.message.removeprefix("Schema file ") if isinstance(error, ModuleError) else str(error)
        raise ConfigError(f"Configuration file {reason}", details=details, cause=error) from error


def read_schema(namespace: str, path: Path) -> dict[str, Any]:
    """The JSON Schema in a file. Raises ConfigError."""
    try:
        schema = read_schema_file(path)
        check_schema(schema)
    except ModuleError as error:
        raise ConfigError(
            f"The schema of namespace '{namespace}' cannot be used: {error.message}",
            details={"namespace": namespace, "file": str(path)},
            cause=error,
        ) from error
    return schema


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    for name in ("project.yaml", "project.yml", "apcore.yaml", "apcore.yml"):
        yield Path(name)
    home = Path(environ.get("HOME") or Path.home())
    if sys.platform == "darwin":
        yield home / "Library" / "Application Support" / "apcore" / "config.yaml"
    else:
        yield Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "apcore" / "config.yaml"
    yield home / ".apcore" / "config.yaml"
