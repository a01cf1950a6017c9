"""Which code a module consists of, as a fingerprint."""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from apcore.modules.callables import innermost
from apcore.modules.function_module import FunctionModule


def source_hash(module: Any) -> str:
    """SHA-256 (hex) over the source files that define the module: of its function, or of its class and its bases.

    Whole files, because an edit to a helper or a constant beside a module changes it as much as one to its own lines.
    Code that has no file (typed into a shell) counts with its name alone.
    """
    fingerprint = hashlib.sha256()
    for code in _code_of(module):
        fingerprint.update(f"{code.__module__}.{code.__qualname__}\n".encode() + _file_content(code))
    return fingerprint.hexdigest()


def source_file(module: Any) -> str | None:
    """The file in which the module's function or class is written; None for code that has no file."""
    try:
        return inspect.getsourcefile(next(iter(_code_of(module))))
    except (TypeError, StopIteration):
        return None


def _code_of(module: Any) -> Iterator[Any]:
    if isinstance(module, FunctionModule):
        yield innermost(module.function)
    else:
        for each in type(module).__mro__:
            if each is not object and each.__module__.partition(".")[0] not in sys.stdlib_module_names:
                yield each


def _file_content(code: Any) -> bytes:
    try:
        file = inspect.getfile(code)
        status = os.stat(file)  # noqa: PTH116 - half the time of a Path, for each of thousands of modules
        return _digest_of(file, status.st_mtime_ns, status.st_size)
    except (OSError, TypeError):
        return b""


# A file holds many modules; the key changes with its content.
@lru_cache(maxsize=1024)
def _digest_of(file: str, modified_ns: int, size: int) -> bytes:
    return hashlib.sha256(Path(file).read_bytes()).digest()
