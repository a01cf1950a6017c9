"""The modules that one Python file of an app defines, and their IDs."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from apcore.discovery import (
    EntryPoint,
    FoundModule,
    function_modules,
    imported_anew,
    load_metadata,
    load_python_module,
    module_classes,
    module_instances,
    the_one,
)
from apcore.errors import InvalidModuleIdError, NoModuleClassError
from apcore.ids import snake_case, validate_canonical_id
from apcore.modules import NO_COMPANION, Companion, FunctionModule, own_id


def modules_of(python: ModuleType, path: tuple[str, ...], *, is_directory: bool) -> Iterator[FoundModule]:
    """The modules that a Python module defines: decorated functions, module classes and instances of such.

    A module says its ID (`id`, or the attribute `module_id`), or the place gives it: `path` and the name of the
    function or variable. A class has the ID of its file, if it is the only one there (`path`, §2.1); otherwise, and in
    a file that stands for a directory, the name of the class is added (§2.1.1). With an entry point in the metadata
    file (`{file}_meta.yaml`) only that one counts.

    Raises InvalidModuleIdError, NoModuleClassError for a file that defines none, and ModuleLoadError for a metadata
    file that is wrong.
    """
    file = python.__file__ or ""
    companion = _companion_of(file)
    if companion.entry_point is not None:
        candidates = _entry(EntryPoint.parse(companion.entry_point), python)
    else:
        candidates = _candidates(python)
    if not candidates and not hasattr(python, "__path__"):
        raise NoModuleClassError(
            f"'{file}' defines no module",
            details={"file": file},
            suggestion="The name of a file that helps others starts with an underscore.",
        )
    is_alone = len(candidates) == 1 and not (is_directory and companion.entry_point is None)
    for name, value in candidates.items():
        has_file_id = is_alone and inspect.isclass(value)
        module_id = _own_id(value) or ".".join(path if has_file_id else (*path, snake_case(name)))
        validate_canonical_id(module_id)
        place = AppPlace(python.__name__, file, path, is_directory)
        yield FoundModule(module_id, value, file, companion, place=place)


@dataclass(frozen=True, slots=True)
class AppPlace:
    """A Python module of an app: its name and file, and what `modules_of` is told about it."""

    name: str
    file: str
    path: tuple[str, ...]
    is_directory: bool

    def find_again(self, module_id: str) -> FoundModule:
        """As `Place.find_again`; with an entry point it is the file with the class that is imported anew."""
        companion, name, file = _companion_of(self.file), self.name, Path(self.file)
        if companion.entry_point is not None:
            entry = EntryPoint.parse(companion.entry_point).file
            name, file = f"{self.name.rpartition('.')[0]}.{entry}", file.with_name(f"{entry}.py")
        with imported_anew(name, file):
            found = modules_of(load_python_module(self.name, self.file), self.path, is_directory=self.is_directory)
            return the_one(module_id, found, self.file)


def _companion_of(file: str) -> Companion:
    """What is said beside the file; a directory has nobody who speaks for all that is in it."""
    return NO_COMPANION if Path(file).stem in ("", "__init__") else load_metadata(file)


def _candidates(python: ModuleType) -> dict[str, Any]:
    """What in a file is a module, as the file has it; what has no name there comes last."""
    classes = {each.__name__: each for each in module_classes(python)}
    found: dict[str, Any] = {**classes, **module_instances(python), **function_modules(python)}
    positions = {id(value): index for index, value in enumerate(vars(python).values())}
    return dict(sorted(found.items(), key=lambda each: positions.get(id(each[1]), len(positions))))


def _entry(entry: EntryPoint, python: ModuleType) -> dict[str, Any]:
    """The class that the metadata file names, in this file or in one beside it (§5.2)."""
    home = import_module(f"{python.__name__.rpartition('.')[0]}.{entry.file}")
    return {entry.class_name: entry.found_in(home, str(python.__file__))}


def _own_id(value: Any) -> str | None:
    """The ID that an author gave, None where the place decides."""
    if isinstance(value, FunctionModule):
        return own_id(value)
    declared: str | None = getattr(value, "module_id", None)
    mistaken = getattr(value, "id", None)
    if declared is None and isinstance(mistaken, str):
        kind = value if inspect.isclass(value) else type(value)
        raise InvalidModuleIdError(
            f"{kind.__qualname__} says id = {mistaken!r}, but the attribute that names a module is module_id",
            details={"class": kind.__qualname__, "id": mistaken},
        )
    return declared
