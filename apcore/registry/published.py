"""The modules that can be found, and what goes with each of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from apcore.modules import ModuleDefinition
from apcore.registry.bulk import Origin
from apcore.registry.error_codes import ErrorCodeCatalogue
from apcore.registry.pending import PendingModules
from apcore.registry.tool_names import ToolNames


class PublishedModules:
    """The definitions by ID, with what made them, the names of their tools and their error codes.

    Reading takes no lock; whoever changes something holds the registry's. `away` are IDs of modules that will come
    back, `pending` those that wait for their first use.
    """

    def __init__(self, pending: PendingModules, *, strict_inputs: bool) -> None:
        self.definitions: dict[str, ModuleDefinition] = {}
        self.origins: dict[str, Origin] = {}
        self.away: set[str] = set()
        self.tool_names = ToolNames(pending)
        self.codes = ErrorCodeCatalogue()
        self._pending = pending
        self._strict_inputs = strict_inputs

    def publish(self, definition: ModuleDefinition, origin: Origin | None = None) -> None:
        """Let a module be found, perhaps in the place of an earlier version of itself."""
        module_id = definition.module_id
        if module_id not in self.definitions:
            self.tool_names.add(module_id)
        if not self._strict_inputs:
            definition = replace(definition, strict_inputs=False)
        self.definitions[module_id] = definition
        self.codes.take(definition)
        if origin is not None:
            self.origins[module_id] = origin
        self._pending.discard(module_id)

    def withdraw(self, module_id: str) -> None:
        """Let it not be found any more."""
        del self.definitions[module_id]
        self.tool_names.remove(module_id)
        self.origins.pop(module_id, None)
        self.codes.give_back(module_id)

    def versions(self) -> dict[str, str]:
        """The version of each module, by ID."""
        return {module_id: definition.version for module_id, definition in self.definitions.items()}

    def is_taken(self, module_id: str) -> bool:
        """Whether a module has this ID, or will have it again."""
        return module_id in self.definitions or module_id in self.away

    def taken(self, module_id: str) -> Collection[str]:
        """This ID, if no new module can have it."""
        return (module_id,) if self.is_taken(module_id) or self._pending.keeps(module_id) else ()
