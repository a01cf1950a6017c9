"""Which system modules there are (§9.15.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apcore.errors import ConfigError

GROUPS: Final = ("health", "manifest", "usage", "control")
"""The parts that can be left out, each with all of its modules."""

_ERROR_RATE: Final = 0.1
_LATENCY_P99_MS: Final = 5000.0


@dataclass(frozen=True, slots=True)
class SysModulesSettings:
    """The section `sys_modules`: the switch of all system modules, and those of their groups.

    `enabled` is false unless the configuration says otherwise, so that no system module is there by default (C-10);
    a group is then on unless it is switched off, and so are the `events` about health. `error_rate` (a share of calls)
    and `latency_p99_ms` (milliseconds) are from when on a module is ill.
    """

    enabled: bool = False
    health: bool = True
    manifest: bool = True
    usage: bool = True
    control: bool = True
    events: bool = True
    error_rate: float = _ERROR_RATE
    latency_p99_ms: float = _LATENCY_P99_MS

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> SysModulesSettings:
        """Read `{"enabled": true, "control": {"enabled": false}, …}`. Raises ConfigError for values of the wrong type.

        A key that other rooms read (`usage.retention_hours`) is left alone.
        """
        thresholds = _section(values, "events").get("thresholds") or {}
        switches = {name: _switch(_section(values, name), name) for name in (*GROUPS, "events")}
        return cls(
            enabled=_switch(values, "sys_modules", default=False),
            **switches,
            error_rate=_number(thresholds, "error_rate", _ERROR_RATE, most=1.0),
            latency_p99_ms=_number(thresholds, "latency_p99_ms", _LATENCY_P99_MS, most=float("inf")),
        )

    @classmethod
    def read(cls, settings: Any) -> SysModulesSettings:
        """Settings of any kind: these, a mapping, or a `Config`, whose mode decides where the section is (§9.15.3)."""
        if isinstance(settings, cls):
            return settings
        if isinstance(settings, Mapping):
            return cls.from_mapping(settings)
        if not callable(getattr(settings, "get", None)):
            given = type(settings).__name__
            raise ConfigError(f"Settings of system modules are a Config, a mapping or SysModulesSettings, not {given}")
        if getattr(settings, "mode", "legacy") == "namespace":
            return cls.from_mapping(settings.namespace("sys_modules"))
        return cls.from_mapping(settings.get("sys_modules") or {})


def _section(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = values.get(name)
    if section is None:
        return {}
    if not isinstance(section, Mapping):
        raise ConfigError(f"sys_modules.{name} must be a mapping such as {{enabled: true}}, not {section!r}")
    return section


def _switch(section: Mapping[str, Any], name: str, *, default: bool = True) -> bool:
    value = section.get("enabled", default)
    if not isinstance(value, bool):
        where = name if name == "sys_modules" else f"sys_modules.{name}"
        raise ConfigError(f"{where}.enabled must be true or false, not {value!r}")
    return value


def _number(section: Mapping[str, Any], name: str, default: float, *, most: float) -> float:
    value = section.get(name, default)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= most:
        raise ConfigError(f"sys_modules.events.thresholds.{name} must be a number from 0 to {most}, not {value!r}")
    return float(value)
