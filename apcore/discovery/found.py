"""A module that was found and is not admitted yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apcore.modules import NO_COMPANION, Companion, Dependency, read_dependencies
from apcore.schema import SchemaLoader


@dataclass(frozen=True, slots=True)
class Place:
    """Where a module file is, so that it can be read again: the file, its own ID, and the root it is imported from."""

    file: str
    file_id: str
    root: str
    multi_class: bool


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
        """What the metadata file says, or else the code. Raises ValueError."""
        return self.companion.dependencies or read_dependencies(getattr(self.module, "dependencies", None))

    @property
    def version(self) -> str | None:
        """What the metadata file says, or else the code."""
        return self.companion.version or getattr(self.module, "version", None)
