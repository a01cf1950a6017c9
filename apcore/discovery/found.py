"""A module that was found and is not admitted yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from apcore.errors import ModuleLoadError, NoModuleClassError
from apcore.modules import NO_COMPANION, Companion, Dependency, read_dependencies
from apcore.modules.callables import given
from apcore.schema import SchemaLoader


class Place(Protocol):
    """Where a module was found, so that it can be read again. Equal places are the same place."""

    def find_again(self, module_id: str) -> FoundModule:
        """Import the file anew, and find the module in it (§12.7.3).

        Raises ModuleError: NoModuleClassError if the file does not define the module any more.
        """
        ...


@dataclass(frozen=True, slots=True)
class FoundModule:
    """A module (a class, an instance or a function module), its ID, and the files that make it.

    `companion` is the content of its metadata file, `declared` the item of a binding file that makes it, `place` where
    a module file is, `schemas` are the schema files that are its own, instead of those of the project.
    """

    module_id: str
    module: Any
    file: str
    companion: Companion = NO_COMPANION
    declared: Mapping[str, Any] | None = None
    place: Place | None = None
    schemas: SchemaLoader | None = None

    @property
    def dependencies(self) -> tuple[Dependency, ...]:
        """What the metadata file says, or else the code. Raises ModuleLoadError for what is none, naming the file."""
        try:
            return self.companion.dependencies or read_dependencies(given(self.module, "dependencies"))
        except ValueError as error:
            raise ModuleLoadError(
                f"Module '{self.module_id}' of '{self.file}': {error}", module_id=self.module_id, cause=error
            ) from error

    @property
    def version(self) -> str | None:
        """What the metadata file says, or else the code."""
        return self.companion.version or getattr(self.module, "version", None)


def the_one(module_id: str, found: Iterable[FoundModule], file: str) -> FoundModule:
    """The module with this ID among those of a file. Raises NoModuleClassError if it is not there any more."""
    for each in found:
        if each.module_id == module_id:
            return each
    raise NoModuleClassError(
        f"'{file}' does not define '{module_id}' any more", module_id=module_id, details={"file": file}
    )
