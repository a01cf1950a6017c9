"""Plain functions in a directory as modules, without a decorator (§5.14)."""

from __future__ import annotations

import importlib
import inspect
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from apcore.discovery.found import FoundModule, the_one
from apcore.discovery.loading import imported_anew, load_python_file, python_name
from apcore.discovery.open_functions import command_schema, without_self
from apcore.discovery.scanning import scan_extensions
from apcore.discovery.settings import StrPath
from apcore.errors import FuncMissingTypeHintError, InvalidInputError, ModuleLoadError
from apcore.ids import refuse_conflicts, validate_canonical_id
from apcore.modules import FunctionModule
from apcore.schema import read_docstring

logger = logging.getLogger("apcore.discovery")

DEFAULT_DIRECTORY: Final = "commands"
NO_DESCRIPTION: Final = "(no description)"


def scan_conventions(
    directory: StrPath = DEFAULT_DIRECTORY,
    *,
    config: Any = None,
    simplify_ids: bool = False,
    package: str | None = None,
) -> list[FoundModule]:
    """The public top-level functions of the files below a directory as modules: `{path}.{function}` (§5.14).

    A file may set `MODULE_PREFIX`, `CLI_GROUP` and `TAGS`. A function with a parameter that has no annotation is left
    out with a warning. `config` is as for `scan_extensions`; `simplify_ids` is deprecated, leaves the IDs as they are,
    and gives the function's name as `metadata["suggested_alias"]` (§5.13.11). `package` is the name of a directory that
    is a Python package already: its files are imported as modules of it, and may reach their siblings and its parents.

    Raises as `scan_extensions`, ModuleLoadError for a file that cannot be imported or has a constant of the wrong type,
    InvalidModuleIdError, and InvalidInputError for two functions of one ID.
    """
    if simplify_ids:
        logger.warning("simplify_ids is deprecated: name an alias in the display section of a binding file")
    importlib.invalidate_caches()
    found: dict[str, FoundModule] = {}
    for path, prefix in scan_extensions(directory, config):
        place = CommandPlace(path, prefix, os.fspath(directory), simplify_ids, package)
        for each in place.all():
            validate_canonical_id(each.module_id)
            refuse_conflicts(each.module_id, found)
            found[each.module_id] = each
    return list(found.values())


@dataclass(frozen=True, slots=True)
class CommandPlace:
    """A file of plain functions, its prefix, and the directory (and package) that it is imported from."""

    file: str
    prefix: str
    root: str
    simplify_ids: bool
    package: str | None

    def all(self) -> Iterator[FoundModule]:
        """The functions of the file."""
        python = load_python_file(self.file, self.root, package=self.package)
        for each in _functions_of(python, self.file, self.prefix, self.simplify_ids):
            yield replace(each, place=self)

    def find_again(self, module_id: str) -> FoundModule:
        """As `Place.find_again`."""
        with imported_anew(python_name(self.file, self.root, package=self.package), self.file):
            return the_one(module_id, self.all(), self.file)


def _functions_of(python: ModuleType, path: str, prefix: str, simplify_ids: bool) -> Iterator[FoundModule]:
    prefix = _constant(python, path, "MODULE_PREFIX", str) or prefix
    group = _constant(python, path, "CLI_GROUP", str)
    tags = tuple(_constant(python, path, "TAGS", list | tuple) or ())
    for name, function in vars(python).items():
        if not _is_command(name, function, python):
            continue
        metadata: dict[str, Any] = {} if group is None else {"display": {"cli": {"group": group}}}
        if simplify_ids:
            metadata["suggested_alias"] = name
        try:
            schema = command_schema(function)
        except (FuncMissingTypeHintError, InvalidInputError) as error:
            logger.warning("'%s': the function '%s' is no command: %s", path, name, error.message)
            continue
        module_id = f"{prefix}.{name}"
        module = FunctionModule(
            without_self(function),
            id=module_id,
            schema=schema,
            description=read_docstring(function).summary or NO_DESCRIPTION,
            tags=tags,
            metadata=metadata,
        )
        yield FoundModule(module_id, module, path)


def _is_command(name: str, value: object, python: ModuleType) -> bool:
    return inspect.isfunction(value) and not name.startswith("_") and value.__module__ == python.__name__


def _constant(python: ModuleType, path: str, name: str, kind: Any) -> Any:
    value = getattr(python, name, None)
    if value is not None and not isinstance(value, kind):
        raise ModuleLoadError(
            f"'{path}': {name} has the wrong type {type(value).__name__}", details={"file": str(Path(path))}
        )
    return value
