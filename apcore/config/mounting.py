"""Other sources for a namespace: files and data (§9.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from apcore.config.files import file_path, read_config_file
from apcore.config.layers import Mount
from apcore.config.namespaces import META
from apcore.config.trees import copied
from apcore.errors import ConfigError, ConfigMountError, ModuleError


def mount_of(
    namespace: Any, from_file: str | Path | None, from_dict: Mapping[str, Any] | None, label: str = "mount"
) -> Mount:
    """The mount, with its data read. Raises ConfigMountError for everything that is not exactly one usable source."""
    details = {"namespace": namespace}
    if namespace == META:
        raise ConfigMountError(
            f"'{META}' configures the Config Bus and cannot be mounted; write it in the configuration file",
            details=details,
        )
    if not isinstance(namespace, str) or not namespace or "." in namespace:
        raise ConfigMountError(
            f"{namespace!r} is no namespace to mount to: it is one name without dots", details=details
        )
    if (from_file is None) == (from_dict is None):
        raise ConfigMountError(
            f"Mounting to '{namespace}' needs either from_file or from_dict, not both and not neither", details=details
        )
    if from_file is not None:
        file = _path(namespace, from_file)
        return Mount(namespace, _read(namespace, file), file, label)
    if not isinstance(from_dict, Mapping):
        raise ConfigMountError(
            f"What is mounted to '{namespace}' is a mapping, not {type(from_dict).__name__}", details=details
        )
    try:
        return Mount(namespace, copied(from_dict), None, label)
    except ConfigError as error:
        raise ConfigMountError(f"Nothing can be mounted to '{namespace}': {error.message}", details=details) from error


def read_again(mount: Mount) -> Mount:
    """The mount with its file as it is now; data that was given stays as it was (§9.11). Raises ConfigMountError."""
    return mount if mount.file is None else replace(mount, data=_read(mount.namespace, mount.file))


def _path(namespace: str, from_file: str | Path) -> Path:
    try:
        return file_path(from_file)
    except ModuleError as error:
        raise ConfigMountError(
            f"Nothing can be mounted to '{namespace}': {error.message}", details={"namespace": namespace}, cause=error
        ) from error


def _read(namespace: str, file: Path) -> dict[str, Any]:
    try:
        return read_config_file(file)
    except ModuleError as error:
        raise ConfigMountError(
            f"'{file}' cannot be mounted to '{namespace}': {error.message}",
            details={"namespace": namespace, "file": str(file)},
            cause=error,
        ) from error
