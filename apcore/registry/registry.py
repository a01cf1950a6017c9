"""Which modules there are (§12.2)."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Collection, Sequence
from typing import Any

from apcore.errors import ModuleNotFoundError
from apcore.modules import ModuleDefinition, ModuleDescription, describe
from apcore.registry.admission import admit
from apcore.registry.events import REGISTRY_EVENTS, RegistryCallback, RegistryEvents
from apcore.registry.exports import PROFILES_WITH_TOOL_NAMES, export_description, tool_name
from apcore.registry.lifecycle import unload
from apcore.registry.queries import Predicate, matches, select
from apcore.registry.tool_names import ToolNames


class Registry:
    """The modules of one application, each under its canonical ID (§12.2).

    Reading takes no lock: a module is published by one assignment, after it was admitted completely. Changing takes
    one, so the second of two registrations of an ID fails.
    """

    def __init__(self) -> None:
        self._definitions: dict[str, ModuleDefinition] = {}
        self._tool_names = ToolNames()
        self._changing = threading.RLock()
        self._events = RegistryEvents()

    def register(self, module_id: str, module: Any) -> ModuleDefinition:
        """Admit a class, an instance or a function module under this ID.

        Raises InvalidModuleIdError, InvalidInputError (`details.type` "duplicate_id"), ModuleLoadError and
        SchemaParseError; then nothing was registered.
        """
        return self._admit(module_id, module, internal=False)

    def register_internal(self, module_id: str, module: Any) -> ModuleDefinition:
        """As `register()`, for the framework's own modules: `system.*` and `internal.*` are open (§2.5)."""
        return self._admit(module_id, module, internal=True)

    def unregister(self, module_id: str) -> bool:
        """Remove a module and call its `on_unload()`; whether it was there. An unknown ID is fine (§12.7.4)."""
        with self._changing:
            definition = self._definitions.get(module_id)
            if definition is None:
                return False
            self._events.emit(REGISTRY_EVENTS["UNREGISTER"], module_id, definition.module)
            del self._definitions[module_id]
            self._tool_names.remove(module_id)
        unload(definition)
        return True

    def close(self) -> None:
        """Unregister everything, the latest first: the end of the application (§12.7.1)."""
        for module_id in reversed(tuple(self._definitions)):
            self.unregister(module_id)

    def get(self, module_id: str) -> Any:
        """The module itself. Raises ModuleNotFoundError."""
        return self.get_definition(module_id).module

    def get_definition(self, module_id: str) -> ModuleDefinition:
        """What is known about a module. Raises ModuleNotFoundError."""
        try:
            return self._definitions[module_id]
        except KeyError:
            raise ModuleNotFoundError(
                f"Module '{module_id}' is not registered", module_id=module_id, details={"module_id": module_id}
            ) from None

    def has(self, module_id: str) -> bool:
        """Whether the module is registered."""
        return module_id in self._definitions

    has_module = has  # the name of §5.3

    def describe(self, module_id: str) -> ModuleDescription:
        """The complete description, for people and language models. Raises ModuleNotFoundError."""
        return describe(self.get_definition(module_id))

    def export_schema(self, module_id: str, strict: bool = False, profile: str | None = None) -> dict[str, Any]:
        """The module in the form of a profile: `mcp`, `openai`, `anthropic`, or `generic`, the default (§4.17).

        `strict` converts the schemas with `to_strict_schema` (§4.16); `openai` does so anyway. Raises
        ModuleNotFoundError, and InvalidInputError for an unknown profile and for a tool name that two modules share.
        """
        exported = export_description(self.describe(module_id), strict=strict, profile=profile)
        if profile in PROFILES_WITH_TOOL_NAMES:
            self._tool_names.refuse_shared(tool_name(module_id))
        return exported

    def module_id_of_tool(self, name: str) -> str:
        """The ID of the module that is exported under a name without dots: the way back from a tool call (§4.17).

        Raises ModuleNotFoundError, and InvalidInputError for a name that two modules share.
        """
        return self._tool_names.module_id_of(name)

    def find(
        self, query: str | Predicate, *, tags: Collection[str] | None = None, include_hidden: bool = False
    ) -> Sequence[str]:
        """The IDs for which a predicate over definitions holds, or whose description has all words of a text."""
        found = select(self._all(), tags=tags, include_hidden=include_hidden)
        return [definition.module_id for definition in found if matches(definition, query)]

    def list(
        self, prefix: str | None = None, tags: Collection[str] | None = None, include_hidden: bool = False
    ) -> builtins.list[str]:
        """The IDs in alphabetical order; modules with `discoverable: false` only with `include_hidden` (§4.4)."""
        found = select(self._all(), prefix=prefix, tags=tags, include_hidden=include_hidden)
        return [definition.module_id for definition in found]

    def on(self, event: str, callback: RegistryCallback) -> None:
        """Call back with (module ID, module) on an event of `REGISTRY_EVENTS`. Raises InvalidInputError."""
        self._events.on(event, callback)

    def _admit(self, module_id: str, module: Any, *, internal: bool) -> ModuleDefinition:
        with self._changing:
            definition = admit(module_id, module, self._definitions, internal=internal)
            self._definitions[module_id] = definition
            self._tool_names.add(module_id)
        self._events.emit(REGISTRY_EVENTS["REGISTER"], module_id, definition.module)
        return definition

    def _all(self) -> Sequence[ModuleDefinition]:
        return sorted(self._definitions.values(), key=lambda definition: definition.module_id)
