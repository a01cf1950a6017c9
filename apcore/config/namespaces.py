"""Which namespaces there are: one registry for the process, as the protocol has it (§9.5)."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from apcore.config.documents import built_in_schema, core_schema, defaults_of, key_tree_of
from apcore.config.files import read_schema
from apcore.config.trees import copied, deep_merge
from apcore.errors import (
    ConfigEnvMapConflictError,
    ConfigEnvPrefixConflictError,
    ConfigError,
    ConfigNamespaceDuplicateError,
    ConfigNamespaceReservedError,
    ModuleError,
)
from apcore.schema import check_schema

CORE: Final = "apcore"
META: Final = "_config"
RESERVED_NAMESPACES: Final = frozenset({CORE, META})
DEFAULT_MAX_DEPTH: Final = 5

EnvStyle = Literal["auto", "nested", "flat"]

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PREFIX: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")


@dataclass(frozen=True)
class Namespace:
    """One registered namespace (§9.5.1). `schema` is a JSON Schema, the path of one, or None."""

    name: str
    schema: Mapping[str, Any] | Path | None = None
    env_prefix: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    env_style: EnvStyle = "auto"
    max_depth: int = DEFAULT_MAX_DEPTH
    env_map: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def schema_document(self) -> Mapping[str, Any] | None:
        """The schema; a file is read when it is first needed. Raises ConfigError if there is none in it."""
        return read_schema(self.name, self.schema) if isinstance(self.schema, Path) else self.schema

    @cached_property
    def key_tree(self) -> Mapping[str, Any]:
        """The keys that variables are resolved against: those of the defaults, and for the framework's own namespaces
        those of the schema as well."""
        known = key_tree_of(self.schema_document or {}) if self.name in _BUILT_INS else {}
        return deep_merge(known, self.defaults)

    def info(self) -> dict[str, Any]:
        """What diagnostic tools are told (§9.9.4)."""
        return {
            "name": self.name,
            "env_prefix": self.env_prefix,
            "has_schema": self.schema is not None,
            "env_style": self.env_style,
            "max_depth": self.max_depth,
        }


def _built_in(name: str, schema: str, env_prefix: str) -> Namespace:
    # The name `sys_modules` breaks the rule for names, so the framework's own do not pass through `register` (C-39).
    document = built_in_schema(schema)
    return Namespace(name, document, env_prefix, {} if name == CORE else defaults_of(document))


_BUILT_INS: Final = {
    each.name: each
    for each in (
        _built_in(CORE, "apcore-config", "APCORE"),
        _built_in("observability", "observability", "APCORE_OBSERVABILITY"),
        _built_in("sys_modules", "sys-modules", "APCORE_SYS"),
    )
}


BUILT_IN_NAMESPACES: Final = frozenset(_BUILT_INS)
"""The framework's own (§9.15)."""


class NamespaceRegistry:
    """The namespaces and the global env_map; each change replaces them as a whole, so readers need no lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.namespaces: Mapping[str, Namespace] = dict(_BUILT_INS)
        self.global_env_map: Mapping[str, str] = {}

    def register(
        self,
        name: str,
        schema: Mapping[str, Any] | str | Path | None,
        env_prefix: str | None,
        defaults: Mapping[str, Any] | None,
        env_style: str | None,
        max_depth: int | None,
        env_map: Mapping[str, str] | None,
    ) -> None:
        """Add a namespace; see `Config.register_namespace`. What is refused leaves no trace."""
        _check_name(name)
        prefix = name.upper().replace("-", "_") if env_prefix is None else env_prefix
        _check_prefix(name, prefix)
        namespace = Namespace(
            name=name,
            schema=_checked_schema(name, schema),
            env_prefix=prefix,
            defaults=copied(_mapping(name, "defaults", defaults)),
            env_style=_checked_style(name, env_style),
            max_depth=_checked_depth(name, max_depth),
            env_map=_checked_env_map(f"env_map of namespace '{name}'", _mapping(name, "env_map", env_map)),
        )
        with self._lock:
            if name in self.namespaces:
                raise ConfigNamespaceDuplicateError(
                    f"Namespace '{name}' is registered already. Register a namespace once, where its package is "
                    "imported, and under a name of its own",
                    details={"namespace": name},
                )
            self._refuse_taken_prefix(namespace)
            self._refuse_claimed(namespace.env_map, name)
            self.namespaces = {**self.namespaces, name: namespace}

    def map_variables(self, env_map: Mapping[str, str]) -> None:
        """Add bare variables that set top-level keys (§9.8.3).

        Raises ConfigEnvMapConflictError, and ConfigError for what is malformed or would set `_config`.
        """
        checked = _checked_env_map("The global env_map", env_map)
        if any(key.split(".")[0] == META for key in checked.values()):
            raise ConfigError(f"The global env_map maps to '{META}', which is written in the configuration file only")
        with self._lock:
            self._refuse_claimed(checked, "the global env_map")
            self.global_env_map = {**self.global_env_map, **checked}

    def snapshot(self) -> tuple[Mapping[str, Namespace], Mapping[str, str]]:
        """The present state, for `restore`."""
        with self._lock:
            return self.namespaces, self.global_env_map

    def restore(self, state: tuple[Mapping[str, Namespace], Mapping[str, str]] | None = None) -> None:
        """Back to a snapshot, or to the framework's own namespaces. For tests: there is no such way in the protocol."""
        with self._lock:
            self.namespaces, self.global_env_map = (dict(_BUILT_INS), {}) if state is None else state

    def _refuse_taken_prefix(self, namespace: Namespace) -> None:
        owner = next((each for each in self.namespaces.values() if each.env_prefix == namespace.env_prefix), None)
        if owner is not None:
            raise ConfigEnvPrefixConflictError(
                f"The environment prefix {namespace.env_prefix} of namespace '{namespace.name}' belongs to "
                f"'{owner.name}'. Give env_prefix another value",
                details={"namespace": namespace.name, "env_prefix": namespace.env_prefix, "owner": owner.name},
            )

    def _refuse_claimed(self, env_map: Mapping[str, str], claimant: str) -> None:
        owners = dict.fromkeys(self.global_env_map, "the global env_map")
        for each in self.namespaces.values():
            owners.update(dict.fromkeys(each.env_map, each.name))
        for variable in env_map:
            if variable in owners:
                raise ConfigEnvMapConflictError(
                    f"The environment variable {variable}, which {claimant} maps, is mapped by {owners[variable]} "
                    "already. Take it out of one of the two",
                    details={"variable": variable, "owner": owners[variable]},
                )


REGISTRY: Final = NamespaceRegistry()
"""Global by the protocol's design (§9.5.3): packages register at import time, before any configuration exists."""


def _check_name(name: str) -> None:
    if not isinstance(name, str):
        raise ConfigError(f"The name of a namespace is a text, not {type(name).__name__}")
    if name in RESERVED_NAMESPACES:
        raise ConfigNamespaceReservedError(
            f"Namespace '{name}' belongs to the framework. Pick another name, for example 'my-{name.strip('_')}'",
            details={"namespace": name},
        )
    if name not in _BUILT_INS and not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is no name for a namespace: lower-case letters and digits, in words joined by single hyphens, "
            "starting with a letter, as in 'my-billing'",
            details={"namespace": name},
        )


def _check_prefix(name: str, prefix: Any) -> None:
    details = {"namespace": name, "env_prefix": prefix}
    if name in _BUILT_INS:
        return  # refused as a duplicate
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise ConfigError(
            f"{prefix!r} is no environment prefix for namespace '{name}': upper-case letters and digits, in words "
            "joined by single underscores, as in 'MY_BILLING'",
            details=details,
        )
    if prefix == "APCORE":
        raise ConfigNamespaceReservedError(
            f"The environment prefix APCORE belongs to the framework; namespace '{name}' needs another",
            details=details,
        )
    head, _, rest = prefix.partition("_")
    if head == "APCORE" and (rest[0].isdigit() or rest.partition("_")[0] in _core_words()):
        # A longer prefix captures variables: APCORE_ACL would take APCORE_ACL_DEFAULT_EFFECT away from the core (C-01).
        raise ConfigEnvPrefixConflictError(
            f"The environment prefix {prefix} of namespace '{name}' would capture variables of the framework. "
            "Give env_prefix a value that does not begin with a section of apcore",
            details=details,
        )


def _core_words() -> set[str]:
    return {name.lstrip("$").partition("_")[0].upper() for name in core_schema()["properties"]}


def _checked_schema(name: str, schema: Mapping[str, Any] | str | Path | None) -> Mapping[str, Any] | Path | None:
    if schema is None or isinstance(schema, str | Path):
        return None if schema is None else Path(schema)
    try:
        check_schema(schema)
    except ModuleError as error:
        raise ConfigError(
            f"The schema of namespace '{name}' cannot be used: {error.message}",
            details={"namespace": name},
            cause=error,
        ) from error
    document: Mapping[str, Any] = copied(schema)
    return document


def _checked_style(name: str, env_style: str | None) -> EnvStyle:
    if env_style is not None and env_style not in get_args(EnvStyle):
        raise ConfigError(
            f"env_style of namespace '{name}' is one of {', '.join(get_args(EnvStyle))}, not {env_style!r}",
            details={"namespace": name},
        )
    return cast("EnvStyle", env_style or "auto")


def _checked_depth(name: str, max_depth: Any) -> int:
    depth = DEFAULT_MAX_DEPTH if max_depth is None else max_depth
    if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
        raise ConfigError(
            f"max_depth of namespace '{name}' is a whole number from 1 on, not {max_depth!r}",
            details={"namespace": name},
        )
    return int(depth)


def _checked_env_map(what: str, env_map: Any) -> dict[str, str]:
    """Names of variables and dotted keys. Raises ConfigError for what no variable or key can be called."""
    if not isinstance(env_map, Mapping):
        raise ConfigError(f"{what} is a mapping, not {type(env_map).__name__}")
    for variable, key in env_map.items():
        if not isinstance(variable, str) or not variable or set(variable) & {"=", "\0"}:
            raise ConfigError(f"{what} has {variable!r}, which is no name of an environment variable")
        if not isinstance(key, str) or not all(key.split(".")):
            raise ConfigError(f"{what} maps {variable} to {key!r}, which is no key: it is like 'cache.url'")
    return dict(env_map)


def _mapping(name: str, what: str, value: Any) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise ConfigError(
            f"{what} of namespace '{name}' is a mapping, not {type(value).__name__}", details={"namespace": name}
        )
    return value or {}
