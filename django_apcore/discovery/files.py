"""The modules that one Python file defines, and their IDs."""

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from apcore.ids import snake_case, validate_canonical_id
from apcore.modules import FunctionModule
from apcore.modules.decorator import generated_id


@dataclass(frozen=True, slots=True)
class FoundModule:
    """A module, the ID it gets, and the file that defines it."""

    module_id: str
    module: Any
    file: str


def modules_of(python: ModuleType, path: tuple[str, ...], *, is_directory: bool) -> Iterator[FoundModule]:
    """The modules that a Python module defines: decorated functions, module classes and instances of such.

    A module says its ID (`id`, or the attribute `module_id`), or the place gives it: `path` and the name of the
    function or variable. A class has the ID of its file, if it is the only one there (`path`, §2.1); otherwise, and in
    a file that stands for a directory, the name of the class is added (§2.1.1). Raises InvalidModuleIdError.
    """
    defined = [(name, value) for name, value in vars(python).items() if _is_module(name, value, python)]
    is_alone = not is_directory and len(defined) == 1
    for name, value in defined:
        has_file_id = is_alone and inspect.isclass(value)
        module_id = _own_id(value) or ".".join(path if has_file_id else (*path, _segment(value, name)))
        validate_canonical_id(module_id)
        yield FoundModule(module_id, value, str(python.__file__))


def _is_module(name: str, value: Any, python: ModuleType) -> bool:
    """Whether a name of a file is a module that this file makes; imported ones belong where they were made (§5.2)."""
    if name.startswith("_"):
        return False
    if isinstance(value, FunctionModule):
        return not _is_made_elsewhere(value, python)
    kind = value if inspect.isclass(value) else type(value)
    if kind.__module__ != python.__name__ or inspect.isabstract(kind):
        return False
    return callable(getattr(value, "execute", None)) or _is_planned(value)


def _is_made_elsewhere(value: FunctionModule, python: ModuleType) -> bool:
    home = sys.modules.get(value.function.__module__)
    return home is not python and any(each is value for each in vars(home).values())


def _is_planned(value: Any) -> bool:
    return callable(getattr(value, "plan", None)) and callable(getattr(value, "apply", None))


def _own_id(value: Any) -> str | None:
    """The ID that an author gave, None where the place decides."""
    if isinstance(value, FunctionModule):
        return None if value.id == generated_id(value.function) else value.id
    own: str | None = getattr(value, "module_id", None)
    return own


def _segment(value: Any, name: str) -> str:
    return snake_case(value.__name__ if inspect.isclass(value) else name)
