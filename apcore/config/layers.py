"""A configuration as layers: defaults below mounts below the file below the environment below overrides (§9.6.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from apcore.config.documents import core_schema, defaults_of
from apcore.config.environment import EnvironmentOverrides
from apcore.config.moved import moved_path, with_moved_sections
from apcore.config.namespaces import CORE, META, Namespace
from apcore.config.trees import MISSING, at, copied, deep_merge, with_value
from apcore.config.trees import Path as Parts

Mode = Literal["legacy", "namespace"]

META_DEFAULTS: Final[Mapping[str, bool]] = {"strict": False, "allow_unknown": True}


@dataclass(frozen=True, slots=True)
class Mount:
    """Data of an external source for one namespace (§9.7); `label` is what it is called when asked for sources."""

    namespace: str
    data: Mapping[str, Any]
    file: Path | None = None
    label: str = "mount"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value comes from: `kind` is default, mount (or its label), file, data, environment or override.

    `detail` is the file or the variable, where there is one.
    """

    kind: str
    detail: str | None = None

    def __str__(self) -> str:
        return self.kind if self.detail is None else f"{self.kind} {self.detail}"


@dataclass(frozen=True, slots=True)
class Layer:
    """The data of one source, in the form of the whole tree."""

    source: Source
    data: Mapping[str, Any]


def detect_config_mode(parsed_yaml: Mapping[str, Any]) -> Mode:
    """`namespace` if there is a top-level key `apcore`, else `legacy` (§9.6.1)."""
    return "namespace" if CORE in parsed_yaml else "legacy"


@dataclass(frozen=True)
class Snapshot:
    """One state of a configuration. It never changes: a `Config` replaces it as a whole, so readers take no lock."""

    content: Mapping[str, Any]
    namespaces: Mapping[str, Namespace]
    environment: EnvironmentOverrides
    global_keys: frozenset[str] = frozenset()
    file: Path | None = None
    mounts: tuple[Mount, ...] = ()
    overrides: Mapping[Parts, Any] = field(default_factory=dict)

    @cached_property
    def mode(self) -> Mode:
        """How the file is read (§9.6.1)."""
        return detect_config_mode(self.content)

    @cached_property
    def meta(self) -> Mapping[str, Any]:
        """`strict` and `allow_unknown` (§9.6.3); as written, so not necessarily booleans."""
        given = self.content.get(META) if self.mode == "namespace" else None
        return {**META_DEFAULTS, **given} if isinstance(given, Mapping) else META_DEFAULTS

    @cached_property
    def layers(self) -> Sequence[Layer]:
        """All layers, the lowest first, with sections at their present places."""
        return [
            Layer(source, with_moved_sections(data, self.mode, is_default=source.kind == "default"))
            for source, data in self._raw_layers()
        ]

    @cached_property
    def data(self) -> dict[str, Any]:
        """The effective tree. It is shared: copy what leaves."""
        merged: dict[str, Any] = {}
        for layer in self.layers:
            merged = deep_merge(merged, layer.data)
        return merged

    @cached_property
    def variables(self) -> Mapping[Parts, str]:
        """Which environment variable set which path."""
        return {
            place: name for path, name in self.environment.variables.items() for place in moved_path(path, self.mode)
        }

    @cached_property
    def names(self) -> frozenset[str]:
        """What a path may begin with."""
        return frozenset({*self.data, *self.namespaces, META})

    def core(self) -> dict[str, Any]:
        """The data of the namespace `apcore`: a section, or in legacy mode all that belongs to no other namespace."""
        if self.mode == "namespace":
            section = self.data.get(CORE)
            return section if isinstance(section, dict) else {}
        return {key: value for key, value in self.data.items() if key not in self._foreign()}

    def section(self, name: str) -> Any:
        """The data of a namespace, or `MISSING`."""
        return self.core() if name == CORE and self.mode == "legacy" else self.data.get(name, MISSING)

    def source_of(self, path: Sequence[str]) -> Source | None:
        """The highest layer that has something at a path; None if there is nothing."""
        for layer in reversed(self.layers):
            if at(layer.data, path) is not MISSING:
                return self._detailed(layer.source, tuple(path))
        return None

    def _detailed(self, source: Source, path: Parts) -> Source:
        if source.kind != "environment":
            return source
        return Source(source.kind, self.variables.get(path))

    def _foreign(self) -> set[str]:
        return {
            name for name in (*self.namespaces, *(each.namespace for each in self.mounts)) if name not in _CORE_SECTIONS
        } - {CORE}

    def _raw_layers(self) -> Iterator[tuple[Source, Mapping[str, Any]]]:
        yield Source("default"), self._defaults()
        for mount in self.mounts:
            yield (
                Source(mount.label, None if mount.file is None else str(mount.file)),
                self._placed(mount.namespace, mount.data),
            )
        yield Source("data") if self.file is None else Source("file", str(self.file)), self._file_data()
        yield Source("environment"), self.environment.data
        overridden: Mapping[str, Any] = {}
        for path, value in self.overrides.items():
            overridden = with_value(overridden, path, value)
        yield Source("override"), overridden

    def _defaults(self) -> dict[str, Any]:
        core = defaults_of(core_schema())
        registered = {each.name: copied(each.defaults) for each in self.namespaces.values() if each.defaults}
        if self.mode == "legacy":
            # The sections of the framework have their own defaults in legacy files, and no namespace replaces them.
            return {**registered, **core}
        own = {name: section for name, section in core.items() if name not in registered}
        return {**registered, CORE: own, META: dict(META_DEFAULTS)}

    def _placed(self, namespace: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return data if namespace == CORE and self.mode == "legacy" else {namespace: data}

    def _file_data(self) -> Mapping[str, Any]:
        if self.mode == "legacy" or self.meta["strict"] is True or self.meta["allow_unknown"] is not False:
            return self.content
        return {name: data for name, data in self.content.items() if name == META or name in self.namespaces}


_CORE_SECTIONS: Final = frozenset(core_schema()["properties"])
