"""Which modules there are (§12.2)."""

from __future__ import annotations

import builtins
import contextvars
import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from apcore.discovery import DiscoverySettings, Findings, FoundModule, Place, find_modules
from apcore.errors import ModuleError, ModuleNotFoundError, ReloadFailedError
from apcore.ids import parse_reference
from apcore.modules import ModuleDefinition, ModuleDescription, describe
from apcore.modules.activity import leave
from apcore.registry.admission import admit
from apcore.registry.bulk import Origin, changed
from apcore.registry.draining import DRAIN_SECONDS, Unloaded, drain
from apcore.registry.events import REGISTRY_EVENTS, RegistryCallback, RegistryEvents
from apcore.registry.exports import PROFILES_WITH_TOOL_NAMES, export_description, tool_name
from apcore.registry.extensions import RegistryExtensions
from apcore.registry.lifecycle import load, suspend, unload
from apcore.registry.loading import ModuleLoader
from apcore.registry.pending import PendingModules
from apcore.registry.published import PublishedModules
from apcore.registry.queries import Predicate, matches, select
from apcore.registry.reloading import Reloaded, reload
from apcore.registry.selection import Strategy, resolve_module_id

logger = logging.getLogger("apcore.registry")


class Registry:
    """The modules of one application, each under its canonical ID (§12.2).

    Reading takes no lock: a module is published by one assignment, after it was admitted completely. Changing takes
    one, so the second of two registrations of an ID fails. Without `strict_inputs` modules take inputs that their
    schemas do not declare (`schema.validation.strict`, §9.1).

    With `extensions.lazy_load` a discovered module may wait for its first use. `has()` and `list(include_hidden=True)`
    know its ID; whatever needs its definition loads it, and raises what loading it raises.
    """

    def __init__(self, *, strict_inputs: bool = True) -> None:
        self._pending = PendingModules()
        self._published = PublishedModules(self._pending, strict_inputs=strict_inputs)
        self._definitions = self._published.definitions
        self._loader = ModuleLoader(self._published, self._pending, self._validate)
        self._changing = threading.RLock()
        self._renewing = threading.RLock()
        self._events = RegistryEvents()
        self._observing: Callable[[], AbstractContextManager[Any]] = nullcontext
        self._extended = RegistryExtensions()

    def register(self, module_id: str, module: Any) -> ModuleDefinition:
        """Admit a class, an instance or a function module under this ID.

        Raises InvalidModuleIdError, InvalidInputError (`details.type` "duplicate_id"), ModuleLoadError and
        SchemaParseError; then nothing was registered.
        """
        return self._admit(module_id, module, internal=False)

    def register_internal(self, module_id: str, module: Any) -> ModuleDefinition:
        """As `register()`, for the framework's own modules: `system.*` and `internal.*` are open (§2.5)."""
        return self._admit(module_id, module, internal=True)

    def unregister(self, module_id: str, *, timeout: float = DRAIN_SECONDS) -> bool:
        """Remove a module and, when its calls have ended, call `on_unload()`; whether it was there (§12.7.4).

        Calls that have not begun get MODULE_NOT_FOUND, running ones go on to their end; after `timeout` seconds the
        module goes in spite of them, which is logged. Blocks meanwhile. An unknown ID is fine. A module that waits for
        its first use is forgotten; nobody was told of it.
        """
        if self._forget(module_id):
            return True
        definition = self._remove(module_id)
        if definition is None:
            return False
        drain(definition, timeout)
        unload(definition)
        return True

    def safe_unregister(self, module_id: str, *, timeout: float = DRAIN_SECONDS) -> Unloaded:
        """As `unregister()`, and `on_suspend()` before `on_unload()`: `(True, state)`, or `(False, None)` by force.

        By force nothing is suspended: the module is still in use. `(True, None)` too for an unknown ID.
        """
        if self._forget(module_id):
            return True, None
        definition = self._remove(module_id)
        if definition is None:
            return True, None
        is_drained = drain(definition, timeout)
        state = suspend(definition) if is_drained else None
        unload(definition)
        return is_drained, state

    def discover(self, config: Any = None) -> builtins.list[str]:
        """Find the modules of a project and register those that are new; their IDs in the order of loading (§12.2).

        `config` is the configuration (sections `extensions`, `schema`, `bindings`, `conventions`), or one root
        directory or several; without it the directory is `./extensions`. What was discovered before and has not changed
        is left alone; of one whose metadata changed the description is renewed and the instance stays (§5.15.3).

        Where the configuration names `extensions.lazy_load`, module files whose text foretells what they define are not
        imported: their modules wait for their first use, and come last in the result (§9.1).

        Everything is registered or nothing. Raises ConfigError for a root that does not exist, ModuleLoadError and its
        kin for a file that is no module, the errors of `register()`, `resolve_dependencies()` and of binding files. Of
        a module that others only depend on optionally, a failure is logged as a warning (§5.15.2).
        """
        with self._observing():
            findings = self._extended.findings(config)
            found = find_modules(DiscoverySettings.read(config)) if findings is None else findings
            return self._register_all(found, is_rediscovery=True)

    def register_found(
        self, found: Iterable[FoundModule], displays: Mapping[str, Mapping[str, Any]] | None = None
    ) -> builtins.list[str]:
        """Register modules that were found, all or none, in the order of their dependencies; the IDs in that order.

        `displays` are items of binding files by module ID; they may mean modules that are registered already (§5.13).
        Raises as `discover()`.
        """
        return self._register_all(Findings(tuple(found), displays=displays or {}), is_rediscovery=False)

    def close(self) -> None:
        """Unregister everything, the latest first: the end of the application (§12.7.1)."""
        with self._changing:
            self._pending.reset({})
        for module_id in reversed(tuple(self._definitions)):
            self.unregister(module_id)

    def reload(self, module_id: str, *, timeout: float = DRAIN_SECONDS) -> ModuleDefinition:
        """Import the file of a discovered module anew, and put a new instance in the place of the old one (§12.7.3).

        In this order: running calls end (at most `timeout` seconds), `on_suspend()`, `on_unload()`, the file, the
        constructor, `on_load()`, and `on_resume(state)` if there is a state. Meanwhile the module cannot be found, and
        its ID is taken. Files that it imports are not read again. One that waits for its first use is loaded first.
        Of a bound function the binding file is read again, and the file of the function is imported anew, unless an
        installed distribution owns it.

        Raises ModuleNotFoundError, and ReloadFailedError if the module was not discovered in a file or its file is no
        module any more; then the old instance was loaded again, with its state.
        """
        with self._renewing:
            old, origin, place = self._send_away(module_id)
            try:
                reloaded = reload(old, origin, place, self._definitions, timeout=timeout, validate=self._validate)
            except BaseException:
                self._published.away.discard(module_id)
                raise
            self._bring_in(reloaded)
        if reloaded.failure is not None:
            raise reloaded.failure
        return reloaded.definition

    def get(self, module_id: str) -> Any:
        """The module itself; `a.b@2` is version 2 of it (§5.4). Raises ModuleNotFoundError."""
        return self.get_definition(self.resolve(module_id) if "@" in module_id else module_id).module

    def resolve(self, reference: str, strategy: Strategy = "highest") -> str:
        """The ID of the version that is meant, the latest one if none is named; raises as `resolve_module_id` (§5.4).

        Calls and ACL rules name exact IDs, so that a rule about one version cannot be passed by under another name.
        """
        for module_id in self._pending.family_of(parse_reference(reference).module_id):
            self._used(module_id)
        return resolve_module_id(reference, self._published.versions(), strategy)

    def get_definition(self, module_id: str) -> ModuleDefinition:
        """What is known about a module. Raises ModuleNotFoundError.

        At the first use of one that waited for it also the errors of its file, as `discover()` would raise them; then
        the module goes on waiting, and the next use tries again.
        """
        try:
            return self._definitions[module_id]
        except KeyError:
            pass
        definition = self._used(module_id)
        if definition is None:
            raise ModuleNotFoundError(
                f"Module '{module_id}' is not registered", module_id=module_id, details={"module_id": module_id}
            )
        return definition

    def get_loaded(self, module_id: str) -> ModuleDefinition | None:
        """As `get_definition()`; None for a module that waits for its first use, or is not there."""
        return self._definitions.get(module_id)

    def file_of(self, module_id: str) -> str | None:
        """The file in which a module was found by discovery; None for one that was registered otherwise."""
        origin = self._published.origins.get(module_id)
        return self._pending.file_of(module_id) if origin is None else origin.file

    def has(self, module_id: str) -> bool:
        """Whether the module is registered, loaded or not."""
        return module_id in self._pending or module_id in self._definitions

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
            self._published.tool_names.refuse_shared(tool_name(module_id))
        return exported

    def module_id_of_tool(self, name: str) -> str:
        """The ID of the module that is exported under a name without dots: the way back from a tool call (§4.17).

        Raises ModuleNotFoundError, and InvalidInputError for a name that two modules share.
        """
        return self._published.tool_names.module_id_of(name)

    def find(
        self, query: str | Predicate, *, tags: Collection[str] | None = None, include_hidden: bool = False
    ) -> Sequence[str]:
        """The IDs for which a predicate over definitions holds, or whose description has all words of a text."""
        found = select(self._all(), tags=tags, include_hidden=include_hidden)
        return [definition.module_id for definition in found if matches(definition, query)]

    def list(
        self, prefix: str | None = None, tags: Collection[str] | None = None, include_hidden: bool = False
    ) -> builtins.list[str]:
        """The IDs in alphabetical order; modules with `discoverable: false` only with `include_hidden` (§4.4).

        Whether a module is hidden, and its tags, are known when it is loaded; with `include_hidden` alone none is.
        """
        if include_hidden and not tags:
            known = {*self._pending, *self._definitions}
            return sorted(each for each in known if each.startswith(prefix or ""))
        found = select(self._all(prefix), prefix=prefix, tags=tags, include_hidden=include_hidden)
        return [definition.module_id for definition in found]

    @property
    def error_codes(self) -> builtins.list[dict[str, Any]]:
        """The codes that registered modules declare in ``error_schema``, each with its meaning and status (§8.4)."""
        self._all()
        return self._published.codes.documentation()

    @property
    def extended(self) -> RegistryExtensions:
        """Where extension points of the registry are taken: discoverer, validators, middleware (§11.3)."""
        return self._extended

    def add_middleware(self, *, id: str, middleware: Any, priority: int | None = None) -> None:  # noqa: A002 - §11.2
        """Register a middleware with every executor of this registry, those to come included (§11.2, C-14).

        Raises InvalidInputError as `Executor.use()`: now if there is an executor, else when the first one is made.
        """
        self._extended.add_middleware(id, middleware, priority)

    def set_extension(self, point: str, implementation: Any) -> None:
        """Put one implementation of an extension point into force, in every executor of this registry (§11.3).

        A discoverer, an access list, an approval handler and a span exporter replace what was there; middleware and
        module validators are added. For several of one point there is `ExtensionManager`. Raises InvalidInputError for
        an unknown point, an object that lacks a method, and middleware whose ID is taken; ConfigError for a span
        exporter without OpenTelemetry's SDK.
        """
        self._extended.set(point, implementation)

    def on(self, event: str, callback: RegistryCallback) -> None:
        """Call back with (module ID, module) on an event of `REGISTRY_EVENTS`. Raises InvalidInputError."""
        self._events.on(event, callback)

    def after_removal(self, callback: RegistryCallback) -> None:
        """Call back with (module ID, module) when the module cannot be found any more; it may still be unloading."""
        self._events.after_removal(callback)

    def _used(self, module_id: str) -> ModuleDefinition | None:
        """The definition of a module, which is loaded if it waited for its first use; None if it is not there.

        In a context of its own, as at the start of a process: what a file does when it is imported is not a part of the
        call, the trace or the measured run that happens to use it first.
        """
        if module_id in self._pending:
            contextvars.Context().run(self._load_pending, module_id)
        return self._definitions.get(module_id)

    def _load_pending(self, module_id: str) -> None:
        loaded = builtins.list[ModuleDefinition]()
        try:
            with self._changing:
                if module_id not in self._definitions and self._pending.is_ready(module_id):
                    for definition in self._loader.load_pending(module_id):
                        loaded.append(definition)
        except ModuleError:
            logger.exception("Module '%s' failed to load at its first use", module_id)
            raise
        finally:
            self._announce(loaded)  # what it needs stays, also if it fails itself

    def _forget(self, module_id: str) -> bool:
        """Wait no longer for the first use of a module; whether that was all there was of it."""
        with self._changing:
            return self._pending.discard(module_id) and module_id not in self._definitions

    def _remove(self, module_id: str) -> ModuleDefinition | None:
        """Mark the module, say so, and withdraw it (C-62). One that is being reloaded does not come back."""
        with self._changing:
            self._published.away.discard(module_id)
            definition = self._definitions.get(module_id)
            if definition is None:
                return None
            leave(definition.activity)
            self._events.emit(REGISTRY_EVENTS["UNREGISTER"], module_id, definition.module)
            self._published.withdraw(module_id)
        self._events.removed(module_id, definition.module)
        return definition

    def _send_away(self, module_id: str) -> tuple[ModuleDefinition, Origin, Place]:
        """Withdraw a module that is to come back, and keep its ID for it."""
        with self._changing:
            definition, origin = self.get_definition(module_id), self._published.origins.get(module_id)
            if origin is None or origin.place is None:
                raise ReloadFailedError(f"Module '{module_id}' was not discovered in a file", module_id=module_id)
            self._remove(module_id)
            self._published.away.add(module_id)
        return definition, origin, origin.place

    def _bring_in(self, reloaded: Reloaded) -> None:
        """Publish what was loaded. Raises ModuleNotFoundError if the module was unregistered in the meantime."""
        definition = reloaded.definition
        module_id = definition.module_id
        with self._changing:
            is_awaited = module_id in self._published.away
            self._published.away.discard(module_id)
            if is_awaited:
                self._published.publish(definition, reloaded.origin)
        if not is_awaited:
            unload(definition)
            raise ModuleNotFoundError(
                f"Module '{module_id}' was unregistered while it was reloaded", module_id=module_id
            )
        self._announce([definition])

    def observe(self, observing: Callable[[], AbstractContextManager[Any]]) -> None:
        """Run each discovery inside of `observing()`, which may time or trace it (§10.8)."""
        self._observing = observing

    def _admit(self, module_id: str, module: Any, *, internal: bool) -> ModuleDefinition:
        with self._changing:
            definition = admit(module_id, module, self._published.taken(module_id), internal=internal)
            self._validate(definition)
            load(definition)
            self._published.publish(definition)
        self._announce([definition])
        return definition

    def _register_all(self, findings: Findings, *, is_rediscovery: bool) -> builtins.list[str]:
        with self._renewing, self._changing, self._loader.all_or_none() as loaded:
            known, awaited = self._published.origins if is_rediscovery else {}, builtins.list[str]()
            if is_rediscovery:
                awaited = self._pending.take_in(findings, self._published.is_taken, known)
            for definition in self._loader.load(changed(findings, known), findings, known):
                loaded.append(definition)
        self._announce(loaded)
        return [*(each.module_id for each in loaded), *(each for each in awaited if each in self._pending)]

    def _announce(self, loaded: Iterable[ModuleDefinition]) -> None:
        for definition in loaded:
            self._events.emit(REGISTRY_EVENTS["REGISTER"], definition.module_id, definition.module)

    def _validate(self, definition: ModuleDefinition) -> None:
        """Raises what speaks against a module that is sound in itself."""
        self._extended.validate(definition)
        self._published.codes.check(definition)

    def _all(self, prefix: str | None = None) -> Sequence[ModuleDefinition]:
        """All that are loaded, those whose ID starts with `prefix` among them for certain."""
        for module_id in self._pending:
            if module_id.startswith(prefix or ""):
                self._used(module_id)
        return sorted(self._definitions.values(), key=lambda definition: definition.module_id)
