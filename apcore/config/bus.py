"""The Config Bus: one tree of namespaces from defaults, mounts, a file, the environment and overrides (§9.4)."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from apcore.config.binding import bind_namespace, name_of, typed_value
from apcore.config.environment import EnvironmentOverrides
from apcore.config.files import file_path
from apcore.config.layers import Mode, Mount, Snapshot, Source
from apcore.config.mounting import mount_of, read_again
from apcore.config.moved import canonical_path
from apcore.config.namespaces import CORE, META, REGISTRY, RESERVED_NAMESPACES
from apcore.config.origin import Origin, overrides_of_environment
from apcore.config.paths import resolve_namespace_path
from apcore.config.trees import MISSING, at, copied, leaves
from apcore.config.trees import Path as Parts
from apcore.config.validation import (
    faults_of_core,
    faults_of_keys,
    faults_of_namespace,
    faults_of_namespaces,
    log_doubts,
    log_mount,
    negotiate,
    refuse,
)
from apcore.errors import ConfigBindError, ConfigError
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, REDACTED_VALUE, hide_credentials, is_sensitive_key, redact

_T = TypeVar("_T")


class Overrides(Protocol):
    """Values that were set while the process ran and are kept, by dotted path (§6.7)."""

    def load(self) -> Mapping[str, Any]: ...


class Config:
    """The configuration of an application (§9). Safe to use from several threads.

    `Config(data)` is the same as `Config.from_dict(data, validate=False)`. Namespaces are registered on the class, for
    the whole process; everything else belongs to the instance. What `get` and its kin return is a copy.
    """

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        self._lock = threading.RLock()
        if data is not None and not isinstance(data, Mapping):
            raise ConfigError(f"A configuration is made of an object, not of {type(data).__name__}")
        self._origin = Origin(copied(data or {}))
        self._overrides: Overrides | None = None
        self._followers: tuple[weakref.WeakMethod[Callable[[], None]], ...] = ()
        self._snapshot = self._origin.read()

    # Registration, for the process

    @classmethod
    def register_namespace(
        cls,
        name: str,
        schema: Mapping[str, Any] | str | Path | None = None,
        env_prefix: str | None = None,
        defaults: Mapping[str, Any] | None = None,
        env_style: str | None = None,
        max_depth: int | None = None,
        env_map: Mapping[str, str] | None = None,
    ) -> None:
        """Add a namespace for all configurations that are loaded from now on (§9.5.1).

        `schema` is a JSON Schema or the path of one, read when it is needed; without `env_prefix` the prefix is the
        name in upper case. `env_style` says how variables become keys: `auto` (the default) looks into `defaults`.

        Raises ConfigNamespaceReservedError, ConfigNamespaceDuplicateError, ConfigEnvPrefixConflictError,
        ConfigEnvMapConflictError, and ConfigError for what is malformed; then nothing was registered.
        """
        REGISTRY.register(name, schema, env_prefix, defaults, env_style, max_depth, env_map)

    @classmethod
    def env_map(cls, mapping: Mapping[str, str]) -> None:
        """Let bare variables set top-level keys: `{"PORT": "port"}` (§9.8.3). Raises ConfigEnvMapConflictError."""
        REGISTRY.map_variables(mapping)

    @classmethod
    def registered_namespaces(cls) -> list[dict[str, Any]]:
        """Name, env_prefix, has_schema, env_style and max_depth of each namespace (§9.9.4)."""
        return [namespace.info() for namespace in REGISTRY.namespaces.values()]

    @classmethod
    def reserved_namespaces(cls) -> frozenset[str]:
        """Names that nobody else can register (§9.9.5)."""
        return RESERVED_NAMESPACES

    # Making one

    @classmethod
    def load(cls, path: str | Path | None = None, *, validate: bool = True) -> Self:
        """From a file, or from the one that `discover_config_file` finds, or else from the defaults (§9.14).

        Raises ConfigNotFoundError, ConfigError with everything that is wrong (§9.3, §9.10), and
        VersionIncompatibleError.
        """
        file = None if path is None else file_path(path)
        config = cls()
        config._start(Origin(path=file, is_searched=path is None))
        if validate:
            config.validate()
        return config

    @classmethod
    def from_defaults(cls) -> Self:
        """The defaults and what the environment says, in legacy form (§9.12.1)."""
        return cls()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, validate: bool = True) -> Self:
        """From data as it would stand in a file; version and project may be missing. Raises as `load`."""
        if not isinstance(data, Mapping):
            raise ConfigError(f"Configuration data is a mapping, not {type(data).__name__}")
        config = cls(data)
        if validate:
            config.validate()
        return config

    # Reading

    @property
    def mode(self) -> Mode:
        """`legacy` or `namespace` (§9.6.1)."""
        return self._snapshot.mode

    @property
    def file(self) -> Path | None:
        """The file that was read, or None."""
        return self._snapshot.file

    @property
    def data(self) -> dict[str, Any]:
        """The whole tree."""
        tree: dict[str, Any] = copied(self._snapshot.data)
        return tree

    def get(self, path: str, default: Any = None) -> Any:
        """The value at a dotted path, which begins with the namespace unless the mode is legacy (§9.9.1)."""
        snapshot = self._snapshot
        value = at(snapshot.data, _parts(snapshot, path))
        return default if value is MISSING else copied(value)

    def namespace(self, name: str) -> dict[str, Any]:
        """All data of a namespace, the same way in both modes (§9.9.2). Raises KeyError for an absent one."""
        section = self._snapshot.section(name)
        if not isinstance(section, Mapping):
            raise KeyError(name)
        data: dict[str, Any] = copied(section)
        return data

    def get_typed(self, path: str, type: Any) -> Any:  # noqa: A002 - the protocol's word
        """The value at a path as this type (§9.9.3). Raises ConfigError if there is none or it is of another type."""
        value = self.get(path, MISSING)
        if value is MISSING:
            raise ConfigError(f"There is no configuration value '{path}'", details={"path": path})
        return typed_value(path, value, type)

    def bind(self, namespace: str, cls: type[_T]) -> _T:
        """The namespace as an instance of a pydantic model or dataclass, independent of later changes (§9.9.3).

        Raises ConfigBindError, which names the namespace and each failing field.
        """
        try:
            data = self.namespace(namespace)
        except KeyError:
            raise ConfigBindError(
                f"There is no namespace '{namespace}' to make a {name_of(cls)} of; register or mount it, or give it a "
                "section in the configuration file",
                details={"namespace": namespace, "type": name_of(cls)},
            ) from None
        return bind_namespace(namespace, data, cls)

    def source(self, path: str) -> Source | None:
        """Where the value at a path comes from, or None if there is none."""
        snapshot = self._snapshot
        return snapshot.source_of(_parts(snapshot, path))

    def is_set(self, path: str) -> bool:
        """Whether somebody gave a value: it is there, and is not only a default."""
        source = self.source(path)
        return source is not None and source.kind != "default"

    def values(self) -> Iterator[tuple[str, Any, Source]]:
        """Every value with its dotted path and its source, in the order of the tree."""
        snapshot = self._snapshot
        for parts, value in leaves(snapshot.data):
            source = snapshot.source_of(parts)
            assert source is not None
            yield ".".join(parts), copied(value), source

    def shown(self, sensitive_keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> Iterator[tuple[str, Any, Source]]:
        """As `values()`, but without secrets: those that schemas mark, that names mean, and that texts hold (§10.6)."""
        snapshot = self._snapshot
        tree = redact(snapshot.data, self.schema(), sensitive_keys)
        for parts, value in leaves(snapshot.data):
            source = snapshot.source_of(parts)
            assert source is not None
            names = [hide_credentials(part, sensitive_keys) for part in parts]
            told = reduce(lambda part, name: part[name] if isinstance(part, Mapping) else part, names, tree)
            # A variable that means no known key may have been parted in the middle of its name: API_KEY as `api.key`.
            is_secret = value not in (None, [], {}) and is_sensitive_key("_".join(parts), sensitive_keys)
            yield ".".join(names), REDACTED_VALUE if is_secret else copied(told), source

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the whole tree, from those of the namespaces."""
        snapshot = self._snapshot
        parts = {name: dict(each.schema_document or {}) for name, each in snapshot.namespaces.items()}
        core = parts.pop(CORE)
        if snapshot.mode == "namespace":
            return {"type": "object", "properties": {**parts, CORE: core}}
        return {**core, "properties": {**parts, **core["properties"]}}

    def doubts(self) -> list[str]:
        """What is allowed and probably a mistake: unknown keys, with the ones that were perhaps meant."""
        return [fault.message for fault in faults_of_keys(self._snapshot)]

    # Changing

    def set(self, path: str, value: Any, *, validate: bool = False) -> None:
        """Put a value at a path, above all other sources, until `reload` (§9.9.1).

        With `validate` a value that makes the configuration invalid is refused with ConfigError, and nothing changes.
        """
        with self._lock:
            changed = self._with_value(path, value)
            if validate:
                self._refuse(changed)
            self._publish(changed)

    def check(self, path: str, value: Any) -> None:
        """Raises ConfigError if `set(path, value)` would make the configuration invalid, or set what nobody reads.

        Nothing changes.
        """
        changed = self._with_value(path, value)
        self._refuse(changed)
        there = set(faults_of_keys(self._snapshot))
        # A name at the top, however close to a known one, may be a section of somebody else.
        refuse(fault for fault in faults_of_keys(changed) if fault not in there and "." in fault.path)

    def mount(
        self,
        namespace: str,
        from_file: str | Path | None = None,
        from_dict: Mapping[str, Any] | None = None,
        *,
        label: str = "mount",
        validate: bool = True,
    ) -> None:
        """Attach another source to a namespace, below the file and above the defaults (§9.7).

        `label` is what `source()` calls it. Who mounts several sources may leave it to `validate()` to check them.
        Raises ConfigMountError for a source that cannot be used, and ConfigError if the namespace is registered with a
        schema that the data does not fit; then nothing changes.
        """
        mount = mount_of(namespace, from_file, from_dict, label)
        with self._lock:
            changed = self._with_mount(mount)
            if validate and namespace == CORE:
                self._refuse(changed)
            elif validate and namespace in changed.namespaces:
                faults = faults_of_namespace(namespace, changed.section(namespace), changed.namespaces[namespace])
                refuse(faults, None, _finder(changed))
            self._publish(changed)
        log_mount(mount, changed.namespaces)

    def use_overrides(self, overrides: Overrides) -> None:
        """Put kept values above all other sources, now and at every `reload`. Raises ConfigError for invalid ones."""
        with self._lock:
            changed = replace(self._snapshot, overrides=_kept(overrides, self._snapshot))
            self._refuse(changed)
            self._overrides = overrides
            self._publish(changed)

    def on_change(self, tell: Callable[[], None]) -> None:
        """Have a method called whenever other values are in force, however that came; its object is not kept alive."""
        follower = weakref.WeakMethod(tell)
        with self._lock:
            self._followers = (*(each for each in self._followers if each() not in (None, tell)), follower)

    def validate(self) -> None:
        """Check everything (A12-NS, §9.10).

        Raises ConfigError, `details["errors"]` with `path`, `message` and `source` of each error, and
        VersionIncompatibleError.
        """
        snapshot = self._snapshot
        self._refuse(snapshot)
        log_doubts(snapshot)

    def reload(self) -> None:
        """Read file, mounts, environment and registered namespaces again, and replace the tree in one step (§9.11).

        Values from `set` are gone, those of `use_overrides` stay. Raises as `load` and `mount`; then the old tree
        stays in force.
        """
        with self._lock:
            mounts = tuple(read_again(mount) for mount in self._snapshot.mounts)
            changed = replace(self._origin.read(), mounts=mounts)
            changed = replace(changed, overrides=_kept(self._overrides, changed))
            self._refuse(changed)
            self._publish(changed)
        log_doubts(changed)

    # Inside

    def _start(self, origin: Origin) -> None:
        self._origin = origin
        self._publish(origin.read())

    def _publish(self, snapshot: Snapshot) -> None:
        snapshot.data  # noqa: B018 - merged before anyone sees it
        self._snapshot = snapshot
        for follower in self._followers:
            if (tell := follower()) is not None:
                tell()

    def _refuse(self, snapshot: Snapshot) -> None:
        negotiate(snapshot.core())
        find = _finder(snapshot)
        is_complete = snapshot.file is not None
        if snapshot.mode == "legacy":
            faults = faults_of_core(snapshot.core(), is_complete=is_complete)
            for name in sorted({mount.namespace for mount in snapshot.mounts} & snapshot.namespaces.keys() - {CORE}):
                faults += faults_of_namespace(name, snapshot.section(name), snapshot.namespaces[name])
        else:
            faults = list(
                faults_of_namespaces(
                    snapshot.data,
                    snapshot.namespaces,
                    snapshot.meta,
                    is_complete=is_complete,
                    free_keys=snapshot.global_keys,
                )
            )
        refuse(faults, snapshot.file, find)

    def _with_value(self, path: str, value: Any) -> Snapshot:
        now = self._snapshot
        parts = _parts(now, path)
        if not all(parts):
            raise ConfigError(f"{path!r} is no configuration path: it is like 'executor.default_timeout'")
        if now.mode == "namespace" and parts[0] == META:
            # It is read once, from the file: a value put on top would be shown and have no effect.
            raise ConfigError(f"'{META}' configures the Config Bus and cannot be set; write it in the file (§9.6.3)")
        # Put last, so that a later set wins over one of a part of it.
        kept = {key: each for key, each in now.overrides.items() if key != parts}
        return replace(now, overrides={**kept, parts: copied(value)})

    def _with_mount(self, mount: Mount) -> Snapshot:
        """Also for a namespace that was registered after this configuration was loaded."""
        now, name = self._snapshot, mount.namespace
        changed = replace(now, mounts=(*now.mounts, mount))
        if name == CORE or name not in REGISTRY.namespaces or name in now.namespaces:
            return changed
        namespaces = {**now.namespaces, name: REGISTRY.namespaces[name]}
        fresh = overrides_of_environment({name: namespaces[name]}, now.content)
        environment = EnvironmentOverrides(
            {**now.environment.data, **fresh.data}, {**now.environment.variables, **fresh.variables}
        )
        return replace(changed, namespaces=namespaces, environment=environment)


def _kept(overrides: Overrides | None, snapshot: Snapshot) -> Mapping[Parts, Any]:
    """The kept values by the steps of their paths."""
    values = {} if overrides is None else overrides.load()
    return {_parts(snapshot, path): copied(value) for path, value in values.items()}


def _parts(snapshot: Snapshot, path: str) -> Parts:
    """The steps of a dotted path through the tree. Raises ConfigError for what is no text."""
    if not isinstance(path, str):
        raise ConfigError(f"A configuration path is a text like 'executor.default_timeout', not {type(path).__name__}")
    namespace, rest = resolve_namespace_path(path, snapshot.mode, snapshot.names)
    parts = tuple(rest.split(".")) if rest or namespace is None or path.endswith(".") else ()
    return canonical_path(parts if namespace is None else (namespace, *parts), snapshot.mode)


def _finder(snapshot: Snapshot) -> Any:
    return lambda path: snapshot.source_of(_parts(snapshot, path))
