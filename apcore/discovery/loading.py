"""Module files as ordinary Python modules (§5.2)."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from apcore.discovery.settings import StrPath
from apcore.errors import ModuleLoadError


def load_python_file(file_path: StrPath, root: StrPath, *, package: str | None = None) -> ModuleType:
    """Import a file below `root`, or take it from `sys.modules` where it was imported before.

    The root is a package, and the directories below it are its sub-packages, so relative imports, pickling and forward
    references work as everywhere. The name is the same in every process that has the same root. Raises ModuleLoadError,
    naming the file, with what the file raised as cause. `package` is the name of a root that is a package already.
    """
    with named_in_errors(file_path):
        return importlib.import_module(python_name(file_path, root, package=package))


def load_python_module(name: str, file_path: StrPath) -> ModuleType:
    """Import the module of this name; raises ModuleLoadError, naming the file."""
    with named_in_errors(file_path):
        return importlib.import_module(name)


@contextmanager
def named_in_errors(file_path: StrPath) -> Iterator[None]:
    """Raises ModuleLoadError, naming the file, for whatever goes wrong within the block."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise ModuleLoadError(
            f"Module file '{os.fspath(file_path)}' cannot be imported: {type(error).__name__}",
            details={"file": os.fspath(file_path), "type": type(error).__name__},
            suggestion="Import the file by itself: the traceback says which line fails",
            cause=error,
        ) from error


def python_name(file_path: StrPath, root: StrPath, *, package: str | None = None) -> str:
    """The name under which a file below `root` stands in `sys.modules`."""
    inside = Path(file_path).absolute().relative_to(Path(root).absolute()).with_suffix("")
    return ".".join((package or _package_of(os.path.realpath(root)), *inside.parts))


@contextmanager
def imported_anew(name: str, file_path: StrPath) -> Iterator[None]:
    """Within the block the module `name` is imported anew; what was there before comes back if that or the block fails.

    The modules inside of a package stay. Raises ModuleLoadError, naming the file.
    """
    importlib.invalidate_caches()
    parent, _, last = name.rpartition(".")
    inside = _submodules_of(name)
    before = sys.modules.pop(name, None)
    # Two versions of one size in one second have the same fingerprint, so the compiled one cannot be trusted.
    with suppress(OSError, NotImplementedError):
        Path(importlib.util.cache_from_source(str(Path(file_path).absolute()))).unlink(missing_ok=True)
    try:
        renewed = load_python_module(name, file_path)
        for each, python in inside.items():
            vars(renewed).setdefault(each, python)
        yield
    except BaseException:
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before
            if parent:
                setattr(sys.modules[parent], last, before)
        raise


def _submodules_of(name: str) -> dict[str, ModuleType]:
    """What of a package is imported; it has to be found in the package that comes in its place."""
    before = f"{name}."
    loaded = [each for each in sys.modules if each.startswith(before) and "." not in each.removeprefix(before)]
    return {each.removeprefix(before): sys.modules[each] for each in loaded}


def _package_of(root: str) -> str:
    """The name of the package that stands for the root; its own `__init__.py` runs, if it has one."""
    name = f"apcore_extensions_{hashlib.sha256(root.encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = _spec(name, root)
        package = importlib.util.module_from_spec(spec)
        sys.modules[name] = package
        if spec.loader is not None and spec.has_location:
            _run(package, spec)
    return name


def _spec(name: str, root: str) -> ModuleSpec:
    start = Path(root, "__init__.py")
    spec = None
    if start.is_file():
        spec = importlib.util.spec_from_file_location(name, start, submodule_search_locations=[root])
    if spec is None:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [root]
    return spec


def _run(package: ModuleType, spec: ModuleSpec) -> None:
    assert spec.loader is not None
    try:
        spec.loader.exec_module(package)
    except BaseException:
        del sys.modules[package.__name__]
        raise
