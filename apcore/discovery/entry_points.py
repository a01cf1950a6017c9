"""Which class of a file is the module (§5.2, §2.1.1)."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from apcore.discovery.candidates import module_classes
from apcore.discovery.found import FoundModule
from apcore.discovery.loading import load_python_file
from apcore.discovery.settings import StrPath
from apcore.errors import AmbiguousEntryPointError, ModuleIdConflictError, ModuleLoadError, NoModuleClassError
from apcore.ids import directory_to_canonical_id, pascal_case, refuse_conflicts, snake_case, validate_canonical_id
from apcore.modules import FunctionModule


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """The file, without its extension, and the class in it."""

    file: str
    class_name: str

    @classmethod
    def parse(cls, text: str) -> EntryPoint:
        """Read `filename:ClassName`. Raises ModuleLoadError for another form."""
        file, sign, class_name = text.partition(":")
        if not (file and sign and class_name) or "/" in file or not class_name.isidentifier():
            raise ModuleLoadError(f"The entry point '{text}' is not of the form 'filename:ClassName'")
        return cls(file.removesuffix(".py"), class_name)

    def found_in(self, python: ModuleType, named_by: str) -> Any:
        """The class, or the function module, of this name. Raises NoModuleClassError, naming who asks for it."""
        module = getattr(python, self.class_name, None)
        if isinstance(module, type | FunctionModule):
            return module
        raise NoModuleClassError(
            f"'{python.__file__}' has no class '{self.class_name}', which is the entry point of '{named_by}'",
            details={"file": str(python.__file__), "class": self.class_name},
        )


def resolve_entry_point(
    meta_yaml: Mapping[str, Any] | None,
    file_path: StrPath,
    language: str = "python",
    *,
    extensions_root: StrPath | None = None,
) -> EntryPoint:
    """The class that the metadata names as `entry_point`, or else the only module class of the file (§5.2).

    A Python file is imported for this, as part of `extensions_root` (its own directory by default); in a file of
    another language the class is assumed to have the name of the file. Raises AmbiguousEntryPointError,
    NoModuleClassError, and ModuleLoadError for a file that cannot be imported.
    """
    declared = (meta_yaml or {}).get("entry_point")
    if declared is not None:
        return EntryPoint.parse(declared)
    name = Path(file_path).stem
    if language != "python":
        return EntryPoint(name, pascal_case(name))
    importlib.invalidate_caches()
    python = load_python_file(file_path, Path(file_path).parent if extensions_root is None else extensions_root)
    return EntryPoint(name, the_class_of(python, file_path).__name__)


def the_class_of(python: ModuleType, file_path: StrPath) -> type:
    """The only module class of a file. Raises NoModuleClassError and AmbiguousEntryPointError, naming the file."""
    classes = module_classes(python)
    file, names = os.fspath(file_path), [each.__name__ for each in classes]
    if not classes:
        raise NoModuleClassError(f"'{file}' has no module class", details={"file": file})
    if len(classes) > 1:
        raise AmbiguousEntryPointError(
            f"'{file}' has several module classes: {', '.join(names)}",
            details={"file": file, "classes": names},
            suggestion="Name one as entry_point in the metadata file, or switch extensions.multi_class on",
        )
    return classes[0]


def discover_multi_class(file_path: StrPath, extensions_root: StrPath = "extensions") -> list[FoundModule]:
    """All module classes of a file: `{ID of the file}.{class name in snake_case}` (§2.1.1).

    A single class has the ID of the file alone. Raises NoModuleClassError, ModuleIdConflictError for two classes of one
    ID, InvalidModuleIdError for a name that cannot be a segment, and ModuleLoadError for a file that cannot be
    imported.
    """
    importlib.invalidate_caches()
    base_id = directory_to_canonical_id(file_path, extensions_root)
    return classes_with_ids(load_python_file(file_path, extensions_root), base_id, file_path)


def classes_with_ids(python: ModuleType, base_id: str, file_path: StrPath) -> list[FoundModule]:
    """The module classes of an imported file under their IDs; raises as `discover_multi_class`."""
    file, classes = os.fspath(file_path), module_classes(python)
    if len(classes) < 2:
        return [FoundModule(base_id, the_class_of(python, file_path), file)]
    found: dict[str, type] = {}
    for each in classes:
        module_id = f"{base_id}.{snake_case(each.__name__)}"
        if module_id in found:
            raise ModuleIdConflictError(
                f"The classes {found[module_id].__name__} and {each.__name__} of '{file}' give the ID '{module_id}'",
                module_id=module_id,
                details={"file": file, "classes": [found[module_id].__name__, each.__name__]},
            )
        validate_canonical_id(module_id)
        refuse_conflicts(module_id, ())
        found[module_id] = each
    return [FoundModule(module_id, each, file) for module_id, each in found.items()]
