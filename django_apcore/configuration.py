"""The Config Bus of a Django process: the namespace `django-apcore`, and the configuration file (§9.13.3)."""

import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from importlib import resources
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from apcore.config import Config
from apcore.errors import ConfigNamespaceDuplicateError

NAMESPACE: Final = "django-apcore"
ENV_PREFIX: Final = "DJANGO_APCORE"
SETTINGS: Final = "settings"
"""What the Config Bus calls values that come from Django's settings."""

SECTIONS_OF_APCORE: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "executor": ("apcore", ("executor",)),
    "acl_file": ("apcore", ("acl", "root")),
    "acl_default_effect": ("apcore", ("acl", "default_effect")),
    "sys_modules": ("sys_modules", ()),
    "observability": ("observability", ()),
}
"""Settings that are another spelling of a key of apcore itself, and where that is. They are no keys of the namespace,
so that there is one place where such a value can be overridden."""

DJANGO: Final = "django"
"""What the Config Bus calls the defaults that are others in a Django project."""

_DEFAULTS_IN_DJANGO: Final[Mapping[str, Mapping[str, Any]]] = {
    "apcore": {"extensions": {"auto_discover": False}},
    "sys_modules": {"enabled": False},
    "observability": {"tracing": {"enabled": False}, "metrics": {"enabled": False}},
}
"""Modules come from the installed apps, and what a project did not ask for is off."""

_NOT_ON_THE_BUS: Final = frozenset({*SECTIONS_OF_APCORE, "config_file", "extensions"})


def register_namespace(defaults: Mapping[str, Any]) -> None:
    """Make the namespace known to the process, if it is not; `defaults` are settings by field."""
    if any(each["name"] == NAMESPACE for each in Config.registered_namespaces()):
        return
    schema = Path(str(resources.files("django_apcore").joinpath("schemas", "django-apcore.schema.json")))
    with suppress(ConfigNamespaceDuplicateError):  # another thread was faster
        Config.register_namespace(NAMESPACE, schema, ENV_PREFIX, section_of(defaults))


def config_file(named: str | None) -> Path | None:
    """The configuration file: `$APCORE_CONFIG_FILE`, or what the settings name, or none.

    Nothing is searched for in the working directory: the processes of one deployment start in different ones, and must
    not go by different rules. A relative path is below `BASE_DIR`, where the settings have one.
    """
    path = os.environ.get("APCORE_CONFIG_FILE") or named
    return None if not path else Path(getattr(settings, "BASE_DIR", "")) / Path(path).expanduser()


def load(given: Mapping[str, Any]) -> Config:
    """A configuration with Django's settings, by field, below the file, the environment and overrides (§9.6.2).

    Raises ConfigError, ConfigNotFoundError and VersionIncompatibleError.
    """
    file = config_file(given.get("config_file"))
    config = Config.from_defaults() if file is None else Config.load(file, validate=False)
    for label, mounts in ((DJANGO, _DEFAULTS_IN_DJANGO), (SETTINGS, _mounts(given))):
        for namespace, data in mounts.items():
            config.mount(namespace, from_dict=data, label=label, validate=False)
    config.validate()
    return config


def section_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings, by field, as data of the namespace: times are seconds, lists are lists.

    `middleware` is a mapping with `enabled`, which a file or a variable can switch off without repeating the list.
    """
    section = {name: _as_data(value) for name, value in values.items() if name not in _NOT_ON_THE_BUS}
    if "middleware" in section:
        section["middleware"] = {"enabled": True, "classes": section["middleware"]}
    return section


def effective(config: Config, given: Mapping[str, Any], types: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """The settings, by field, that are not at their defaults; `types` are those of all fields."""
    values = {name: given[name] for name in _NOT_ON_THE_BUS & given.keys()}
    for name, (namespace, path) in SECTIONS_OF_APCORE.items():
        place = _place(config, namespace, path)
        if len(path) == 2 and config.is_set(place):
            values[name] = config.get(place)
    for name, value in config.namespace(NAMESPACE).items():
        source = config.source(f"{NAMESPACE}.{name}")
        if name in types and source is not None and source.kind != "default":
            values[name] = given[name] if source.kind == SETTINGS else _as_setting(name, value, types[name])
    return values


def origin_of(config: Config, name: str) -> str:
    """Where the value of a field comes from, for messages: `environment DJANGO_APCORE_URL_PREFIX`."""
    namespace, path = SECTIONS_OF_APCORE.get(name, (NAMESPACE, (name,)))
    return str(config.source(_place(config, namespace, path)) or "default")


def _mounts(given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    mounts: dict[str, dict[str, Any]] = {NAMESPACE: section_of(given)}
    for name, (namespace, path) in SECTIONS_OF_APCORE.items():
        value = given.get(name)
        if value is None:
            continue
        section = mounts.setdefault(namespace, {})
        for part in path[:-1]:
            section = section.setdefault(part, {})
        section.update({path[-1]: value} if path else value)
    return mounts


def _place(config: Config, namespace: str, path: tuple[str, ...]) -> str:
    parts = path if namespace == "apcore" and config.mode == "legacy" else (namespace, *path)
    return ".".join(parts)


def _as_data(value: Any) -> Any:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return list(value) if isinstance(value, tuple) else value


def _as_setting(name: str, value: Any, types: tuple[type, ...]) -> Any:
    if name == "middleware" and isinstance(value, Mapping):
        return tuple(value.get("classes") or ()) if value.get("enabled", True) else ()
    if timedelta in types and isinstance(value, (int, float)):
        return timedelta(seconds=value)
    return tuple(value) if tuple in types and isinstance(value, list) else value
