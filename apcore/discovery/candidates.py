"""What in a Python file is a module (§5.2, §2.1.1)."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from apcore.errors import ModuleIdConflictError
from apcore.modules import FunctionModule, Module, modules_made_in, own_id


def module_classes(python: ModuleType) -> list[type]:
    """The module classes that a file makes and exports: public ones, or those in `__all__`.

    A class is one by what it has, not by its base (C-28): it can be executed, and declares its schemas or is a
    `Module`. Only if no class of the file does, one that can be executed alone is enough: its schemas are in a file.
    """
    runnable = [each for each in _exported(python) if inspect.isclass(each) and is_runnable(each, python)]
    return [each for each in runnable if _declares_schemas(each)] or runnable


def function_modules(python: ModuleType) -> dict[str, FunctionModule]:
    """The decorated functions and `module()` calls of a file by name, without those that it imports.

    A call whose result the file gives no name goes by its ID, or by the name of its function if it has none. Raises
    ModuleIdConflictError for two of one name.
    """
    found = {
        name: value
        for name, value in _public_names(python)
        if isinstance(value, FunctionModule) and not _is_made_elsewhere(value, python)
    }
    known = {id(value) for value in vars(python).values()}
    for unnamed in (each for each in modules_made_in(python) if id(each) not in known):
        name = own_id(unnamed) or unnamed.name
        if name in found:
            raise ModuleIdConflictError(
                f"Two function modules of '{python.__file__}' go by '{name}'", details={"file": python.__file__}
            )
        found[name] = unnamed
    return found


def module_instances(python: ModuleType) -> dict[str, Any]:
    """The instances of its own module classes that a file makes, by name; the classes themselves may be private."""
    return {name: value for name, value in _public_names(python) if is_runnable(type(value), python)}


def is_runnable(kind: type, python: ModuleType) -> bool:
    """Whether this file makes a class that can be executed: imported ones belong where they were made."""
    if kind.__module__ != python.__name__ or inspect.isabstract(kind):
        return False
    return callable(getattr(kind, "execute", None)) or _is_planned(kind)


def _is_planned(kind: type) -> bool:
    return callable(getattr(kind, "plan", None)) and callable(getattr(kind, "apply", None))


def _declares_schemas(kind: type) -> bool:
    return issubclass(kind, Module) or (hasattr(kind, "input_schema") and hasattr(kind, "output_schema"))


def _exported(python: ModuleType) -> list[Any]:
    """Each value once, whatever names it has."""
    return list({id(value): value for _, value in _public_names(python)}.values())


def _public_names(python: ModuleType) -> Iterator[tuple[str, Any]]:
    exported = getattr(python, "__all__", None)
    for name, value in vars(python).items():
        if name in exported if exported is not None else not name.startswith("_"):
            yield name, value


def _is_made_elsewhere(value: FunctionModule, python: ModuleType) -> bool:
    home = sys.modules.get(value.function.__module__)
    return home is not python and any(each is value for each in vars(home).values())
