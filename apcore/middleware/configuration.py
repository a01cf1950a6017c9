"""Middleware by configuration: the section ``middleware`` of a file, and lists like it (§11.2, §11.4, C-14)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from apcore.errors import ConfigError, ModuleError
from apcore.middleware.making import made_from
from apcore.middleware.manager import MiddlewareManager, checked_id, checked_priority

BUILT_IN: Final[Mapping[str, str]] = {
    "retry": "apcore.middleware.builtin.retry.RetryMiddleware",
    "circuit_breaker": "apcore.middleware.builtin.circuit_breaker.CircuitBreakerMiddleware",
}
"""Built-ins that are off until an entry names them; it may leave out ``class``."""

OBSERVING: Final = ("tracing", "logging", "metrics", "error_wrapper")
"""Built-ins that are on (§11.4); an entry may give one another priority, and settings of its own."""

BY_DEFAULT: Final = (*OBSERVING, "usage", "platform_notify", "error_history")
"""What an app has unless ``disabled`` names it."""

_KEYS: Final = ("id", "class", "priority", "config")
_OWN_PATH: Final = "apcore.middleware."


@dataclass(frozen=True, slots=True)
class ConfiguredMiddleware:
    """One entry. ``middleware`` is None where it only adjusts a built-in: ``id`` says which, ``config`` to what."""

    middleware: Any
    id: str | None = None
    priority: int | None = None
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        """The ID under which it will be registered, if that is known before."""
        own: str | None = self.id or getattr(self.middleware, "id", None)
        return own


@dataclass(frozen=True, slots=True)
class MiddlewareSettings:
    """What ``middleware`` says: IDs of built-ins that are ``disabled``, and ``entries`` in their order."""

    disabled: frozenset[str] = frozenset()
    entries: tuple[ConfiguredMiddleware, ...] = ()

    @classmethod
    def read(cls, section: Any, *, place: str = "middleware") -> MiddlewareSettings:
        """Read a list of entries, or a mapping with ``disabled`` and ``entries`` (C-14).

        An entry is a class path, or a mapping with ``class`` and, as needed, ``id``, ``priority`` and ``config``, the
        arguments of the class. Raises ConfigError that names every mistake with its place: ``middleware[2].class``.
        """
        mistakes = list[str]()
        is_mapping = isinstance(section, Mapping)
        given: Mapping[str, Any] = section if is_mapping else {"entries": section}
        mistakes += [
            f"{place} has no key {key!r}; there are disabled, entries"
            for key in given
            if key not in ("disabled", "entries")
        ]
        disabled = _each(given.get("disabled"), f"{place}.disabled", _disabled_id, mistakes)
        entries = _each(given.get("entries"), f"{place}.entries" if is_mapping else place, _entry, mistakes)
        if not mistakes:
            mistakes += _repeated(entries, place)
        if mistakes:
            raise ConfigError("; ".join(mistakes), details={"errors": mistakes})
        return cls(frozenset(disabled), tuple(entries))

    def __or__(self, other: MiddlewareSettings) -> MiddlewareSettings:
        """Both: what either disables, and the entries of one after the other."""
        return MiddlewareSettings(self.disabled | other.disabled, (*self.entries, *other.entries))


def _each(values: Any, place: str, read: Callable[[Any, str], Any], mistakes: list[str]) -> list[Any]:
    """Read every item and collect what is wrong: all mistakes are told at once (§9.3)."""
    if values is None:
        return []
    if isinstance(values, str | Mapping) or not isinstance(values, Sequence | frozenset | set):
        mistakes.append(f"{place} must be a list, not {type(values).__name__}")
        return []
    found = []
    for number, value in enumerate(values):
        try:
            found.append(read(value, f"{place}[{number}]"))
        except ModuleError as error:
            mistakes.append(error.message)
    return found


def _disabled_id(name: Any, place: str) -> str:
    checked: str = _checked(checked_id, name, place)
    if checked not in BY_DEFAULT:
        raise ConfigError(
            f"{place} names {checked}, which is not on by default; on by default are {', '.join(BY_DEFAULT)} (§11.4)"
        )
    return checked


def _checked(check: Callable[[Any], Any], value: Any, place: str) -> Any:
    try:
        return check(value)
    except ModuleError as error:
        raise ConfigError(f"{place}: {error.message}") from error


def _entry(entry: Any, place: str) -> ConfiguredMiddleware:
    if isinstance(entry, str):
        entry = {"class": entry}
    if not isinstance(entry, Mapping):
        raise ConfigError(
            f"{place} must be a class path or an object with {', '.join(_KEYS)}, not {type(entry).__name__}"
        )
    unknown = sorted(str(key) for key in set(entry) - set(_KEYS))
    if unknown:
        raise ConfigError(f"{place} has no key {unknown[0]!r}; there are {', '.join(_KEYS)}")
    name, priority, path = entry.get("id"), entry.get("priority"), entry.get("class")
    name = None if name is None else _checked(checked_id, name, f"{place}.id")
    priority = None if priority is None else _checked(checked_priority, priority, f"{place}.priority")
    if name in OBSERVING and (path is None or str(path).startswith(_OWN_PATH)):
        return ConfiguredMiddleware(None, name, priority, _settings(entry.get("config"), place))
    path = BUILT_IN.get(str(name)) if path is None else path
    if path is None:
        raise ConfigError(f"{place} needs a class; without one, id is one of {', '.join((*BUILT_IN, *OBSERVING))}")
    middleware = made_from(path, entry.get("config"), place)
    _checked(_register_alone, middleware, f"{place}.class")
    return ConfiguredMiddleware(middleware, name, priority)


def _register_alone(middleware: Any) -> None:
    """Raises InvalidInputError for what no executor takes: no hooks, a priority or an ID of its own that is none."""
    MiddlewareManager().add(middleware)


def _settings(config: Any, place: str) -> Mapping[str, Any]:
    if config is not None and not isinstance(config, Mapping):
        raise ConfigError(f"{place}.config must be an object, not {type(config).__name__}")
    return config or {}


def _repeated(entries: Iterable[ConfiguredMiddleware], place: str) -> list[str]:
    seen, twice = set[str](), list[str]()
    for number, entry in enumerate(entries):
        name = entry.name
        if name is None:
            continue
        if name in seen:
            twice.append(f"{place}[{number}]: there is an entry with the id {name!r} already; give this one another id")
        seen.add(name)
    return twice
