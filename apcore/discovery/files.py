"""Everything that a project has by way of modules (§3.6, §5.2, §5.12.6, §5.14)."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from apcore.discovery.binding_files import Item, configured_binding_files, read_binding_file
from apcore.discovery.bindings import bound_modules
from apcore.discovery.candidates import function_modules, module_classes
from apcore.discovery.conventions import scan_conventions
from apcore.discovery.entry_points import EntryPoint, classes_with_ids, the_class_of
from apcore.discovery.foretelling import foretold_ids
from apcore.discovery.found import FoundModule, the_one
from apcore.discovery.leftovers import warn_about_metadata
from apcore.discovery.loading import imported_anew, load_python_file, python_name
from apcore.discovery.metadata_files import load_metadata
from apcore.discovery.scanning import scan_extensions
from apcore.discovery.settings import DiscoverySettings, StrPath
from apcore.errors import ModuleError, ModuleLoadError
from apcore.ids import snake_case
from apcore.modules import Companion, Dependency, own_id
from apcore.schema import SchemaLoader


@dataclass(frozen=True, slots=True)
class Findings:
    """What a project has: modules, files that failed (by the ID of the file), and how modules are presented.

    `foretold` are modules whose files were not imported; `asked_for` is the one for whose sake the others were found.
    """

    found: tuple[FoundModule, ...]
    failures: Mapping[str, ModuleError] = field(default_factory=dict)
    displays: Mapping[str, Item] = field(default_factory=dict)
    schemas: SchemaLoader | None = None
    foretold: tuple[ForetoldModule, ...] = ()
    asked_for: str | None = None


def find_modules(settings: DiscoverySettings) -> Findings:
    """Scan the roots, import what is there, and read the files beside it; nothing is registered.

    With `lazy_load` a file below the roots is not imported if its text foretells its modules.

    A file that fails does not end the search: whether that matters depends on who needs it (§5.15.2). Raises what
    `scan_extensions`, `scan_conventions` and binding files raise.
    """
    importlib.invalidate_caches()
    found: list[FoundModule] = []
    foretold: list[ForetoldModule] = []
    failures: dict[str, ModuleError] = {}
    for root in settings.roots:
        warn_about_metadata(root)
        for path, module_id in scan_extensions(root, settings.scan):
            place = FilePlace(path, module_id, os.fspath(root), settings.multi_class)
            try:
                told = place.foretell() if settings.lazy_load else None
                found += place.all() if told is None else ()
                foretold += told or ()
            except ModuleError as error:
                failures[module_id] = error
    if settings.commands is not None:
        found += scan_conventions(settings.commands, config=settings.scan)
    files = [read_binding_file(each) for each in configured_binding_files(settings)]
    found += [each for file in files for each in bound_modules(file)]
    displays = {module_id: item for file in files for module_id, item in file.displayed.items()}
    return Findings(tuple(found), failures, displays, settings.schemas, tuple(foretold))


def modules_in_file(
    file_path: StrPath, module_id: str, root: StrPath, *, multi_class: bool = False
) -> list[FoundModule]:
    """The modules of one file: its module class under the ID of the file, and its function modules (§5.2, §5.11).

    A function module without an ID of its own is `{ID of the file}.{name}`. With an entry point in the metadata file
    only that one counts. Raises NoModuleClassError, AmbiguousEntryPointError and ModuleIdConflictError, ModuleLoadError
    for a file that cannot be imported, and the errors of the metadata file.
    """
    return FilePlace(os.fspath(file_path), module_id, os.fspath(root), multi_class).all()


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A module file: its own ID, and the root it is imported from."""

    file: str
    file_id: str
    root: str
    multi_class: bool

    def all(self, companion: Companion | None = None) -> list[FoundModule]:
        """The modules of the file, which is imported; without `companion` its metadata file is read.

        Raises as `modules_in_file`.
        """
        companion = load_metadata(self.file) if companion is None else companion
        if companion.entry_point is not None:
            found = [_entry(EntryPoint.parse(companion.entry_point), self.file_id, Path(self.file), self.root)]
        else:
            python = load_python_file(self.file, self.root)
            found = list(_all_in(python, self.file_id, self.file, multi_class=self.multi_class))
        return [replace(each, file=self.file, companion=companion, place=self) for each in found]

    def foretell(self) -> list[ForetoldModule] | None:
        """The modules of the file, which is not imported; None if that is the only way to tell.

        Raises ModuleLoadError for a file that is no Python, and the errors of the metadata file.
        """
        companion = load_metadata(self.file)
        entry = EntryPoint.parse(companion.entry_point).class_name if companion.entry_point else None
        ids = foretold_ids(self._source(companion), self.file_id, entry=entry, multi_class=self.multi_class)
        return None if ids is None else [ForetoldModule(each, self, companion, frozenset(ids)) for each in ids]

    def find_again(self, module_id: str) -> FoundModule:
        """As `Place.find_again`; raises as `modules_in_file`."""
        companion = load_metadata(self.file)
        source = self._source(companion)
        with imported_anew(python_name(source, self.root), source):
            return the_one(module_id, self.all(companion), self.file)

    def _source(self, companion: Companion) -> Path:
        """The file that defines the modules: this one, or the one that the entry point names."""
        entry = EntryPoint.parse(companion.entry_point).file if companion.entry_point else Path(self.file).stem
        return Path(self.file).with_name(f"{entry}{Path(self.file).suffix}")


@dataclass(frozen=True, slots=True)
class ForetoldModule:
    """A module that its file foretells; `ids` are all that it does. The file is imported when the module is wanted."""

    module_id: str
    place: FilePlace
    companion: Companion
    ids: frozenset[str]

    @property
    def file(self) -> str:
        return self.place.file

    @property
    def dependencies(self) -> tuple[Dependency, ...]:
        """Those that the metadata file names; what the code says is not known yet."""
        return self.companion.dependencies

    def load(self) -> FoundModule:
        """Import the file, unless it was imported before, and take the module from it.

        Raises ModuleLoadError if the file cannot be imported, or defines more than it foretold; NoModuleClassError if
        it does not define the module.
        """
        importlib.invalidate_caches()
        found = self.place.all(self.companion)
        surprising = sorted({each.module_id for each in found} - self.ids)
        if surprising:
            raise ModuleLoadError(
                f"'{self.file}' defines {', '.join(surprising)} as well, which its text does not tell",
                module_id=self.module_id,
                details={"file": self.file, "module_ids": surprising},
                suggestion="Discover again if the file has changed; otherwise switch extensions.lazy_load off",
            )
        return the_one(self.module_id, found, self.file)


def _all_in(python: ModuleType, module_id: str, file_path: StrPath, *, multi_class: bool) -> Iterator[FoundModule]:
    functions = function_modules(python)
    if module_classes(python) or not functions:
        if multi_class:
            yield from classes_with_ids(python, module_id, file_path)
        else:
            yield FoundModule(module_id, the_class_of(python, file_path), os.fspath(file_path))
    for name, function in functions.items():
        yield FoundModule(own_id(function) or f"{module_id}.{snake_case(name)}", function, os.fspath(file_path))


def _entry(entry: EntryPoint, module_id: str, path: Path, root: StrPath) -> FoundModule:
    python = load_python_file(path.with_name(f"{entry.file}{path.suffix}"), root)
    return FoundModule(module_id, entry.found_in(python, module_id), str(path))
