"""Which code a module consists of, as a fingerprint."""

from __future__ import annotations

import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from weakref import WeakKeyDictionary

from apcore.modules.callables import innermost
from apcore.modules.function_module import FunctionModule

# What stood in the file of a Python module, for as long as there is that module. A reload gives it another spec.
_imported: Final[WeakKeyDictionary[ModuleType, tuple[ModuleSpec | None, bytes]]] = WeakKeyDictionary()
_INSTALLED: Final = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def source_hash(module: Any) -> str:
    """SHA-256 (hex) over the source files that define the module: of its function, or of its class and its bases.

    Whole files, because an edit to a helper or a constant beside a module changes it as much as one to its own lines.
    A file is read once for each time it is imported: what is written into it later is not what runs.
    Code that has no file (typed into a shell) counts with its name alone.
    """
    parts = [f"{code.__module__}.{code.__qualname__}\n".encode() + _content(code) for code in _code_of(module)]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def source_file(module: Any) -> str | None:
    """The file in which the module's function or class is written; None for code that has no file."""
    try:
        return inspect.getsourcefile(next(iter(_code_of(module))))
    except (TypeError, StopIteration):
        return None


def home_package(module: Any) -> str | None:
    """The top-level package of the module's function or class; None for what has none."""
    return next((str(each.__module__).partition(".")[0] for each in _code_of(module)), None)


def is_installed(file: str) -> bool:
    """Whether a source file belongs to the standard library or to an installed distribution."""
    return file.startswith("<frozen ") or any(Path(file).is_relative_to(each) for each in _INSTALLED)


def _code_of(module: Any) -> Iterator[Any]:
    if isinstance(module, FunctionModule):
        yield innermost(module.function)
    else:
        for each in type(module).__mro__:
            if each is not object and each.__module__.partition(".")[0] not in sys.stdlib_module_names:
                yield each


def _content(code: Any) -> bytes:
    try:
        file = inspect.getfile(code)
    except (OSError, TypeError):
        return b""
    python = sys.modules.get(code.__module__)
    if not isinstance(python, ModuleType) or getattr(python, "__file__", None) != file:
        return _digest_now(file)
    known = _imported.get(python)
    if known is None or known[0] is not python.__spec__:
        known = _imported[python] = (python.__spec__, _digest_now(file))
    return known[1]


def _digest_now(file: str) -> bytes:
    try:
        status = Path(file).stat()
        return _digest_of(file, status.st_mtime_ns, status.st_size)
    except OSError:
        return b""


# A file holds many modules; the key changes with its content.
@lru_cache(maxsize=1024)
def _digest_of(file: str, modified_ns: int, size: int) -> bytes:
    return hashlib.sha256(Path(file).read_bytes()).digest()
