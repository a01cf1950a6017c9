"""Directory paths as module IDs (§2.1)."""

from __future__ import annotations

import os
from typing import Final

from apcore.errors import IdTooLongError, InvalidPathError, InvalidSegmentError
from apcore.ids.grammar import MAX_ID_LENGTH, is_segment

DEFAULT_EXTENSIONS_ROOT: Final = "extensions"


def directory_to_canonical_id(
    file_path: str | os.PathLike[str], extensions_root: str | os.PathLike[str] = DEFAULT_EXTENSIONS_ROOT
) -> str:
    """The ID of a module file: ``extensions/executor/db_params.py`` gives ``executor.db_params`` (§2.1).

    Raises ``InvalidPathError`` (outside the root, no file extension, empty segment), ``InvalidSegmentError`` and
    ``IdTooLongError``.
    """
    file_path, extensions_root = os.fspath(file_path), os.fspath(extensions_root)
    segments = _without_extension(_below(extensions_root, file_path), file_path).split("/")
    for segment in segments:
        _check_segment(segment, file_path)
    module_id = ".".join(segments)
    if len(module_id) > MAX_ID_LENGTH:
        raise IdTooLongError(
            f"'{file_path}' gives an ID of {len(module_id)} characters, at most {MAX_ID_LENGTH} are allowed",
            details={"file_path": file_path, "length": len(module_id)},
        )
    return module_id


def _below(extensions_root: str, file_path: str) -> str:
    prefix = f"{extensions_root.rstrip('/')}/"
    if not file_path.startswith(prefix):
        raise InvalidPathError(f"'{file_path}' is not below '{prefix}'", details={"file_path": file_path})
    return file_path.removeprefix(prefix)


def _without_extension(relative_path: str, file_path: str) -> str:
    stem, dot, extension = relative_path.rpartition(".")
    if not dot or "/" in extension:
        raise InvalidPathError(f"'{file_path}' has no file extension", details={"file_path": file_path})
    return stem


def _check_segment(segment: str, file_path: str) -> None:
    if not segment:
        raise InvalidPathError(f"'{file_path}' has an empty segment", details={"file_path": file_path})
    if not is_segment(segment):
        raise InvalidSegmentError(
            f"'{segment}' in '{file_path}' cannot be a segment of a module ID",
            details={"file_path": file_path, "segment": segment},
        )
