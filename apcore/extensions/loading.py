"""Extensions named by a configuration, or brought by installed packages (§11.3, §11.7)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from apcore.errors import ConfigError, InvalidInputError, ModuleError, require
from apcore.extensions.manager import ExtensionManager
from apcore.middleware.making import made_from
from apcore.registry.points import EXTENSION_POINTS, extension_point

GROUP: Final = "apcore.extensions."
"""Entry points of a package: the group is ``apcore.extensions.`` and the point, as in ``apcore.extensions.acl``."""

_ENTRY: Final = ("class", "priority", "config")
_CHAIN: Final = ("strategy", "implementations")
_OWN: Final = ("strategy", "entry_points")
_DISCOVERY: Final = frozenset(
    {
        "root",
        "roots",
        "auto_discover",
        "lazy_load",
        "follow_symlinks",
        "max_depth",
        "ignore_patterns",
        "supported_extensions",
        "multi_class",
    }
)
"""Keys of the same section that say where modules are (§9.1, C-63)."""


def load_extensions(
    config: Any, extension_points: ExtensionManager | Mapping[str, Iterable[Any]] | None = None
) -> ExtensionManager:
    """The extensions that a configuration names, added to ``extension_points``, highest priority first (§11.7).

    ``config`` is a ``Config``, whole data, or the section ``extensions``. There a point is a class path, a list of
    class paths and of objects with ``class``, ``priority`` and ``config``, or an object with ``implementations`` and
    ``strategy``; ``strategy`` beside the points holds where it fits. ``entry_points`` lists the installed packages
    whose entry points may take part: a package is never asked because it happens to be installed. ``extension_points``
    is a manager, or implementations by point.

    A point without any keeps the framework's default. Raises ConfigError with the place of the mistake.
    """
    manager = _manager_of(extension_points)
    section = _section(config)
    _refuse_unknown(section)
    if "strategy" in section:
        _set_everywhere(manager, section["strategy"])
    for name in EXTENSION_POINTS:
        if section.get(name) is not None:
            _load_point(manager, name, section[name])
    _load_installed(manager, section.get("entry_points"))
    return manager


def _manager_of(given: ExtensionManager | Mapping[str, Iterable[Any]] | None) -> ExtensionManager:
    if isinstance(given, ExtensionManager):
        return given
    manager = ExtensionManager()
    require("extension_points", given or {}, Mapping, "an ExtensionManager, or implementations by point")
    for name, implementations in (given or {}).items():
        require(f"extension_points[{name!r}]", implementations, list | tuple, "a list of implementations")
        for implementation in implementations:
            manager.register(name, implementation)
    return manager


def _section(config: Any) -> Mapping[str, Any]:
    if hasattr(config, "namespace"):
        section = config.namespace("apcore").get("extensions")
    else:
        whole = config if config is not None else {}
        section = whole.get("extensions", whole) if isinstance(whole, Mapping) else whole
    if section is None:
        return {}
    if not isinstance(section, Mapping):
        raise ConfigError(f"extensions must be an object, not {type(section).__name__} (§11.3)")
    return section


def _refuse_unknown(section: Mapping[str, Any]) -> None:
    known = {*EXTENSION_POINTS, *_OWN, *_DISCOVERY}
    for name in section:
        if name in known:
            continue
        close = difflib.get_close_matches(str(name), EXTENSION_POINTS, n=1, cutoff=0.7)
        try:
            extension_point(name)
        except InvalidInputError as error:
            hint = f". Did you mean {close[0]!r}?" if close else ""
            raise ConfigError(f"extensions.{name}: {error.message}{hint}") from error


def _set_everywhere(manager: ExtensionManager, strategy: Any) -> None:
    if isinstance(strategy, Mapping):
        for name, each in strategy.items():
            _at(f"extensions.strategy.{name}", manager.set_strategy, name, each)
        return
    fitting = [name for name, point in EXTENSION_POINTS.items() if strategy in point.strategies]
    if not fitting:
        _at("extensions.strategy", manager.set_strategy, "discoverer", strategy)
    for name in fitting:
        manager.set_strategy(name, strategy)


def _load_point(manager: ExtensionManager, name: str, value: Any) -> None:
    place = f"extensions.{name}"
    if isinstance(value, Mapping) and "implementations" in value:
        unknown = sorted(set(value) - set(_CHAIN))
        if unknown:
            raise ConfigError(f"{place} has no key {unknown[0]!r}; there are {', '.join(_CHAIN)}")
        if "strategy" in value:
            _at(f"{place}.strategy", manager.set_strategy, name, value["strategy"])
        value, place = value["implementations"], f"{place}.implementations"
    entries = [value] if isinstance(value, str | Mapping) else value
    if not isinstance(entries, Iterable):
        raise ConfigError(f"{place} must be a class path, a list or an object, not {type(value).__name__}")
    for number, entry in enumerate(entries):
        at = place if isinstance(value, str | Mapping) else f"{place}[{number}]"
        _load_entry(manager, name, entry, at)


def _load_entry(manager: ExtensionManager, name: str, entry: Any, place: str) -> None:
    if not isinstance(entry, str | Mapping):  # an object that code put into the configuration
        _at(place, manager.register, name, entry)
        return
    values: Mapping[str, Any] = {"class": entry} if isinstance(entry, str) else entry
    unknown = sorted(str(key) for key in set(values) - set(_ENTRY))
    if unknown or "class" not in values:
        what = f"has no key {unknown[0]!r}" if unknown else "needs a class"
        raise ConfigError(f"{place} {what}; there are {', '.join(_ENTRY)} (§11.3)")
    implementation = made_from(values["class"], values.get("config"), place)
    _at(place, _register, manager, name, implementation, values.get("priority"))


def _register(manager: ExtensionManager, name: str, implementation: Any, priority: Any) -> None:
    manager.register(name, implementation, priority=priority)


def _load_installed(manager: ExtensionManager, packages: Any) -> None:
    if packages is None:
        return
    if isinstance(packages, str) or not isinstance(packages, Iterable):
        raise ConfigError("extensions.entry_points must be a list of the names of installed packages (§11.7)")
    wanted = {str(name).lower().replace("_", "-") for name in packages}
    seen = set[str]()
    for name in EXTENSION_POINTS:
        for each in entry_points(group=f"{GROUP}{name}"):
            package = each.dist.name.lower().replace("_", "-") if each.dist is not None else ""
            if package in wanted:
                seen.add(package)
                place = f"extensions.entry_points: {package}, {each.group}, {each.name}"
                _at(place, _register, manager, name, _made(each, place), None)
    missing = sorted(wanted - seen)
    if missing:
        raise ConfigError(
            f"extensions.entry_points names {', '.join(missing)}, which is not installed or has no entry point in a "
            f"group {GROUP}<point> (§11.7)"
        )


def _made(entry: EntryPoint, place: str) -> Any:
    try:
        found = entry.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{place} cannot be imported: {error}", cause=error) from error
    return found() if isinstance(found, type) else found


def _at(place: str, change: Any, *arguments: Any) -> None:
    try:
        change(*arguments)
    except ModuleError as error:
        raise ConfigError(f"{place}: {error.message}") from error
