"""When a module fails too often or takes too long, and when it does so no more (§9.16.2)."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Final, NamedTuple

from apcore.config import Config
from apcore.errors import ConfigError

_CALM: Final = 0.5
"""A module has recovered when it is below this share of the threshold: a value at the threshold does not flicker."""

_NOTIFY: Final = {
    "error_rate": "observability.platform_notify.error_rate_threshold",
    "latency_p99_ms": "observability.platform_notify.latency_p99_threshold_ms",
}
_EVENTS: Final = {
    "error_rate": "sys_modules.events.thresholds.error_rate",
    "latency_p99_ms": "sys_modules.events.thresholds.latency_p99_ms",
}
_OURS: Final = ("window_calls", "window_seconds", "minimum_calls")


@dataclass(frozen=True, slots=True)
class HealthThresholds:
    """From when on somebody has to be told (§9.15.2, §9.15.3).

    ``error_rate`` is a share of calls, ``latency_p99_ms`` the 99th percentile in milliseconds; being above it counts.
    Looked at are the last ``window_calls`` calls of a module, none older than ``window_seconds``, once there are
    ``minimum_calls`` of them. Raises ConfigError for values that are none.
    """

    error_rate: float = 0.1
    latency_p99_ms: float = 5000.0
    window_calls: int = 200
    window_seconds: float = 300.0
    minimum_calls: int = 1

    def __post_init__(self) -> None:
        for name, low, high in (
            ("error_rate", 0, 1),
            ("latency_p99_ms", 0, float("inf")),
            ("window_seconds", 0.001, float("inf")),
        ):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
                raise ConfigError(f"The health threshold {name} must be a number from {low} to {high}, not {value!r}")
        for name in ("window_calls", "minimum_calls"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigError(f"The health threshold {name} must be a whole number from 1, not {value!r}")

    @classmethod
    def from_config(cls, config: Config, *, installed_by_system_modules: bool = False) -> HealthThresholds:
        """The thresholds that hold, out of the two sections that may name them (C-55).

        ``observability.platform_notify`` comes first, unless ``register_sys_modules()`` installs the middleware: then
        ``sys_modules.events.thresholds`` does. A value that somebody set in one comes before a default of the other.
        """
        own = config.namespace("observability")["platform_notify"]
        places = (_NOTIFY, _EVENTS)
        first, second = reversed(places) if installed_by_system_modules else places
        chosen = {
            name: config.get(
                second[name] if config.is_set(second[name]) and not config.is_set(first[name]) else first[name]
            )
            for name in first
        }
        return cls(**chosen, **{name: own[name] for name in _OURS if name in own})


@dataclass(frozen=True, slots=True)
class HealthChange:
    """A crossing of a threshold: ``kind`` is ``errors`` or ``latency`` for the worse, ``recovered`` for the better."""

    kind: str
    module_id: str
    error_rate: float
    p99_latency_ms: float


class _Call(NamedTuple):
    at: float
    failed: bool
    duration_ms: float


class HealthMonitor:
    """Watches the latest calls of every module, and tells each crossing of a threshold once.

    A module is well again at its first call that finds the value below half of the threshold.
    """

    def __init__(self, thresholds: HealthThresholds, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.thresholds = thresholds
        self._clock = clock
        self._modules: dict[str, _Window] = {}
        self._lock = threading.Lock()

    def observe(self, module_id: str, *, duration_ms: float, failed: bool) -> list[HealthChange]:
        """Count one call. Returns what changed by it, as a rule nothing."""
        with self._lock:
            window = self._modules.get(module_id)
            if window is None:
                window = self._modules[module_id] = _Window(module_id, self.thresholds)
            return window.add(_Call(self._clock(), failed, duration_ms))


class _Window:
    """The latest calls of one module, with their counts kept up to date, so that a call costs the same at any size."""

    __slots__ = ("_alarms", "_calls", "_failed", "_half_slow", "_module_id", "_slow", "_thresholds")

    def __init__(self, module_id: str, thresholds: HealthThresholds) -> None:
        self._module_id = module_id
        self._thresholds = thresholds
        self._calls: deque[_Call] = deque()
        self._failed = self._slow = self._half_slow = 0
        self._alarms: set[str] = set()

    def add(self, call: _Call) -> list[HealthChange]:
        thresholds, calls = self._thresholds, self._calls
        calls.append(call)
        self._count(call, 1)
        oldest = call.at - thresholds.window_seconds
        while len(calls) > thresholds.window_calls or calls[0].at < oldest:
            self._count(calls.popleft(), -1)
        if len(calls) < thresholds.minimum_calls or not (self._failed or self._slow or self._alarms):
            return []
        return self._changes()

    def _count(self, call: _Call, step: int) -> None:
        limit = self._thresholds.latency_p99_ms
        self._failed += step * call.failed
        self._slow += step * (call.duration_ms > limit)
        self._half_slow += step * (call.duration_ms >= limit * _CALM)

    def _changes(self) -> list[HealthChange]:
        number, limits = len(self._calls), self._thresholds
        rate = self._failed / number
        above_p99 = number - ceil(0.99 * number)  # so many calls may be slower than the limit before p99 is
        found = self._turn("errors", on=rate > limits.error_rate, off=rate < limits.error_rate * _CALM or not rate)
        found += self._turn("latency", on=self._slow > above_p99, off=self._half_slow <= above_p99)
        kinds = dict.fromkeys(found)  # well again in both respects is told once
        return [HealthChange(kind, self._module_id, rate, self._p99()) for kind in kinds]

    def _turn(self, alarm: str, *, on: bool, off: bool) -> list[str]:
        if on and alarm not in self._alarms:
            self._alarms.add(alarm)
            return [alarm]
        if off and alarm in self._alarms:
            self._alarms.remove(alarm)
            return ["recovered"]
        return []

    def _p99(self) -> float:
        durations = sorted(call.duration_ms for call in self._calls)
        return durations[ceil(0.99 * len(durations)) - 1]
