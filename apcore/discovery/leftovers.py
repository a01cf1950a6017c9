"""Files that look as if they said something about modules, and that nobody reads."""

from __future__ import annotations

import logging
from pathlib import Path

from apcore.discovery.metadata_files import metadata_file_of
from apcore.discovery.settings import StrPath

logger = logging.getLogger("apcore.discovery")


def warn_about_metadata(root: StrPath) -> None:
    """Metadata files below a directory that stand beside no module file (§5.2), as after a typing error or a move.

    What they say may be a restriction, such as ``allowed_callers``.
    """
    for file in sorted(Path(root).rglob("*_meta.y*ml")):
        module = file.with_name(f"{file.stem.removesuffix('_meta')}.py")
        if metadata_file_of(module) != file or not module.is_file() or module.name == "__init__.py":
            logger.warning("'%s' belongs to no module file and is not read", file)


def warn_about_bindings(directory: Path, pattern: str) -> None:
    """YAML files in a directory of binding files that do not have the name of one (§5.12.6)."""
    for file in sorted(directory.glob("*.y*ml")):
        if not file.match(pattern):
            logger.warning("'%s' is not read: the names of binding files fit '%s'", file, pattern)
