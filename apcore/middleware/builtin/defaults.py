"""Which middleware an app has: the built-ins that are on by default, and what the configuration adds (§11.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from apcore.config import Config
from apcore.errors import ConfigError
from apcore.events import EventEmitter
from apcore.middleware.builtin.error_history import ErrorHistoryMiddleware
from apcore.middleware.builtin.platform_notify import PlatformNotifyMiddleware
from apcore.middleware.builtin.usage import UsageMiddleware
from apcore.middleware.configuration import MiddlewareSettings
from apcore.middleware.manager import MiddlewareEntry, MiddlewareManager
from apcore.registry import Registry
from apcore.telemetry.error_history import ErrorHistory
from apcore.telemetry.health import HealthThresholds
from apcore.telemetry.settings import ObservabilitySettings
from apcore.telemetry.usage import UsageCollector


@dataclass(frozen=True, slots=True)
class Watched:
    """The parts of an app that its innermost middlewares feed."""

    registry: Registry
    events: EventEmitter
    usage: UsageCollector
    error_history: ErrorHistory


def watching(parts: Watched, notify: HealthThresholds | None) -> tuple[Any, ...]:
    """`usage`, `platform_notify` if there are thresholds, and `error_history`, outermost first (§9.15, §10)."""
    return (
        UsageMiddleware(parts.usage),
        *(() if notify is None else (PlatformNotifyMiddleware(parts.events, notify),)),
        ErrorHistoryMiddleware(parts.error_history, parts.registry),
    )


def thresholds_in(config: Config) -> HealthThresholds | None:
    """What ``observability.platform_notify`` or, with system modules, ``sys_modules.events`` asks for (C-55)."""
    if config.namespace("observability")["platform_notify"]["enabled"]:
        return HealthThresholds.from_config(config)
    system = config.namespace("sys_modules")
    if system["enabled"] and system["events"]["enabled"]:
        return HealthThresholds.from_config(config, installed_by_system_modules=True)
    return None


def adjusted(observability: ObservabilitySettings, settings: MiddlewareSettings) -> ObservabilitySettings:
    """The settings of the observing built-ins, with what entries say of them. Raises ConfigError for unknown keys."""
    changes: dict[str, Any] = {}
    for entry in settings.entries:
        if entry.middleware is None and entry.config:
            known = {field.name for field in fields(ObservabilitySettings)}
            if entry.id not in known:
                raise ConfigError(f"middleware: the built-in {entry.id!r} takes no config (§11.4)")
            section = getattr(observability, entry.id)
            own = {field.name: getattr(section, field.name) for field in fields(section)}
            changes[entry.id] = type(section).from_mapping({**own, **entry.config})
    return replace(observability, **changes)


def assembled(
    defaults: Iterable[Any], settings: MiddlewareSettings, further: Iterable[Any] = ()
) -> tuple[MiddlewareEntry, ...]:
    """What an executor is given, outermost first: defaults that are not disabled, entries, and ``further`` objects.

    An entry with the ID of a default takes its place. Raises InvalidInputError for an ID that two have.
    """
    built_ins = {each.id: each for each in defaults}
    manager = MiddlewareManager()
    for name, middleware in built_ins.items():
        mine = [entry for entry in settings.entries if entry.name == name]
        if name in settings.disabled or any(entry.middleware is not None for entry in mine):
            continue
        manager.add(middleware, priority=mine[0].priority if mine else None)
    for entry in settings.entries:
        if entry.middleware is not None and entry.name not in settings.disabled:
            manager.add(entry.middleware, id=entry.id, priority=entry.priority)
    for middleware in further:
        manager.add(middleware)
    return manager.entries
