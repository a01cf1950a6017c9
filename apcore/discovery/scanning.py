"""Which files below a directory are modules, and their IDs (§3.4, §3.5, §3.6)."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

from apcore.discovery.settings import ScanSettings, StrPath
from apcore.errors import ConfigError, IdTooLongError, InvalidPathError, InvalidSegmentError, ModuleError
from apcore.ids import directory_to_canonical_id, refuse_conflicts

logger = logging.getLogger("apcore.discovery")

ALWAYS_IGNORED: Final = (".*", "_*", "__pycache__", "node_modules", "*.pyc")


def scan_extensions(extensions_root: StrPath, config: Any = None) -> list[tuple[str, str]]:
    """The module files below a directory as (file path, canonical ID), in alphabetical order (§3.6).

    `config` is a `ScanSettings`, a configuration or a mapping with `follow_symlinks`, `ignore_patterns` and
    `max_depth`. A file whose name cannot be an ID, a directory that lies too deep, and a link that leads out of the
    root or in a circle are left out with a warning.

    Raises ConfigError if the root is no directory (`details["reason"]` is "EXTENSION_ROOT_NOT_FOUND") or a setting
    makes no sense, InvalidInputError for two files of one ID (`details["files"]` names both), and InvalidModuleIdError
    for a reserved word.
    """
    root = os.fspath(extensions_root)
    if not Path(root).is_dir():
        raise ConfigError(
            f"The directory of the modules, '{root}', does not exist",
            details={"reason": "EXTENSION_ROOT_NOT_FOUND", "extensions_root": root},
        )
    walk = _Walk(os.path.realpath(root), ScanSettings.read(config))
    found = [(path, name) for path in walk.files(root) if (name := _id_of(path, root)) is not None]
    _refuse_conflicts(found)
    return found


@dataclass(frozen=True, slots=True)
class _Walk:
    real_root: str
    settings: ScanSettings

    def files(self, directory: str, above: tuple[str, ...] = ()) -> Iterator[str]:
        """The module files in a directory and below; `above` are the real paths of the directories around it."""
        around = (*above, os.path.realpath(directory))
        with os.scandir(directory) as entries:
            wanted = sorted((each for each in entries if not self._is_ignored(each.name)), key=lambda each: each.name)
        for entry in wanted:
            if entry.is_symlink() and not self._may_follow(entry, around):
                continue
            if entry.is_dir():
                if len(above) >= self.settings.max_depth:
                    logger.warning("'%s' is deeper than %d levels, skipped", entry.path, self.settings.max_depth)
                else:
                    yield from self.files(entry.path, around)
            elif entry.is_file() and Path(entry.name).suffix in self.settings.supported_extensions:
                yield entry.path

    def _is_ignored(self, name: str) -> bool:
        return any(fnmatch(name, pattern) for pattern in (*ALWAYS_IGNORED, *self.settings.ignore_patterns))

    def _may_follow(self, entry: os.DirEntry[str], around: tuple[str, ...]) -> bool:
        if not self.settings.follow_symlinks:
            logger.debug("'%s' is a symbolic link, skipped", entry.path)
            return False
        target = os.path.realpath(entry.path)
        if not Path(target).exists():
            logger.warning("'%s' is a symbolic link to nothing, skipped", entry.path)
        elif not Path(target).is_relative_to(self.real_root):
            logger.warning("'%s' is a symbolic link out of '%s', skipped", entry.path, self.real_root)
        elif target in around:
            logger.warning("'%s' is a symbolic link in a circle, skipped", entry.path)
        else:
            return True
        return False


def _id_of(path: str, root: str) -> str | None:
    try:
        return directory_to_canonical_id(path, root)
    except (InvalidPathError, InvalidSegmentError, IdTooLongError) as error:
        logger.warning("Not a module: %s", error.message)
        return None


def _refuse_conflicts(found: list[tuple[str, str]]) -> None:
    files: dict[str, str] = {}
    for path, module_id in found:
        try:
            refuse_conflicts(module_id, files)
        except ModuleError as error:
            error.details["files"] = [each for each in (files.get(module_id), path) if each is not None]
            error.add_note(f"Found in {', '.join(error.details['files'])}")
            raise
        files[module_id] = path
