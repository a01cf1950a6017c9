"""How often each module was called, by whom, how long it took and how often it failed (§10.4)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from apcore.errors import ConfigError, InvalidInputError, require
from apcore.telemetry.flushing import Flusher, call_in_children
from apcore.telemetry.latency import bin_of
from apcore.telemetry.usage_reports import ModuleUsage, UsageSummary, module_report, start_of, summarised
from apcore.telemetry.usage_rows import SECONDS_PER_HOUR, MemoryUsageStore, UsageRow, UsageStore, matches

logger = logging.getLogger("apcore.telemetry")

ANONYMOUS: Final = "anonymous"
"""The kind of callers without an identity."""

_LONGEST_CALLER_TYPE: Final = 32
_MOST_PENDING: Final = 50_000
"""How many rows wait at most for a store that does not answer: about 15 MB."""

_HOURS_PER_YEAR: Final = 8_784

_Key = tuple[int, str, str, int]
_ADDED_UP: Final = (0, 1, 2, 4)
"""A cell is calls, errors, milliseconds, the last call, and faults; of last calls the latest counts."""


@dataclass(frozen=True, slots=True)
class UsageSettings:
    """How long usage is kept (§9.15.3): ``retention_hours`` by the hour, then ``retention_days`` by the day (ours).

    Raises ConfigError for what is no whole number, or less than an hour or than no day.
    """

    retention_hours: int = 168
    retention_days: int = 400

    def __post_init__(self) -> None:
        for name, least in (("retention_hours", 1), ("retention_days", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ConfigError(f"sys_modules.usage.{name} must be a whole number from {least}, not {value!r}")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> UsageSettings:
        """Read the section ``sys_modules.usage``. Raises ConfigError for a strategy other than ``hourly``."""
        if values.get("bucketing_strategy", "hourly") != "hourly":
            raise ConfigError("sys_modules.usage.bucketing_strategy: buckets are hourly, there is no other strategy")
        return cls(**{name: values[name] for name in ("retention_hours", "retention_days") if name in values})


class UsageCollector:
    """Counts calls in hourly buckets, by module and kind of caller (§10.4).

    ``record()`` only adds to counters in memory. With a ``flusher`` they are written to the ``store`` some seconds
    later, elsewhere than in the call; a process that is killed loses what was counted since the last flush. Reports
    hold what this process has not yet written.
    """

    def __init__(
        self,
        store: UsageStore | None = None,
        *,
        settings: UsageSettings | None = None,
        flusher: Flusher | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = MemoryUsageStore() if store is None else store
        self.settings = UsageSettings() if settings is None else settings
        require("settings", self.settings, UsageSettings, "UsageSettings")
        if flusher is not None:
            require("flusher", flusher, Flusher, "a Flusher")
        require("clock", clock, Callable, "a function that gives seconds")
        self._flusher = flusher
        self._clock = clock
        self._pruned_hour = self._this_hour()
        self.start_anew()
        call_in_children(self, UsageCollector.start_anew)
        if flusher is not None:
            flusher.add(self)

    def start_anew(self) -> None:
        """Forget what was not yet written: in a forked child that is the parent's to write."""
        self._lock = threading.Lock()
        self._flushing = threading.RLock()
        self._pending: dict[_Key, list[Any]] = {}
        self._lost = 0

    @property
    def is_pending(self) -> bool:
        """Whether something was counted and is not yet written."""
        return bool(self._pending)

    def record(
        self,
        module_id: str,
        *,
        caller_type: str,
        duration_ms: float,
        error_code: str | None = None,
        is_fault: bool = True,
    ) -> None:
        """Count one call; with an ``error_code`` it failed. Blocks nobody, whatever the store does.

        ``is_fault`` says whether the error is the module's own (`apcore.telemetry.outcomes`).
        """
        now = self._clock()
        key = (int(now // SECONDS_PER_HOUR), module_id, caller_type, bin_of(duration_ms))
        with self._lock:
            cell = self._pending.get(key)
            if cell is not None:
                cell[0] += 1
                cell[2] += duration_ms
                cell[3] = now
                if error_code is not None:
                    cell[1] += 1
                    cell[4] += is_fault
                return
            is_first = not self._pending
            failed = error_code is not None
            self._begin(key, [1, int(failed), duration_ms, now, int(failed and is_fault)])
        if self._flusher is None:
            self._keep_tidy(key[0])
        elif is_first:
            self._flusher.wake()

    def flush(self) -> None:
        """Write what is pending to the store, and drop what is too old there. What raises stays pending."""
        with self._flushing:
            with self._lock:
                taken, self._pending = self._pending, {}
            try:
                if taken:
                    self.store.add(_rows(taken))
            except BaseException:
                self._put_back(taken)
                raise
            self._prune_once_an_hour()

    def prune(self) -> int:
        """Merge old hours into days and drop old days, as the settings say. Returns how many rows went."""
        this_hour = self._this_hour()
        hours_before = this_hour - self.settings.retention_hours + 1
        days_before = this_hour - max(self.settings.retention_hours, self.settings.retention_days * 24) + 1
        return self.store.prune(hours_before=hours_before, days_before=days_before)

    def summary(self, hours: int = 24, *, caller_type: str | None = None) -> UsageSummary:
        """The calls of the current hour and the ``hours - 1`` before it, over all modules and by module.

        Hours that were merged into days count where their whole day is in that time. Raises InvalidInputError for a bad
        ``hours``.
        """
        since = self._since(hours)
        return summarised(self._read(since, caller_type=caller_type), since=start_of(since), hours=hours)

    def module(self, module_id: str, hours: int = 24, *, caller_type: str | None = None) -> ModuleUsage:
        """The calls of one module in the same time, by kind of caller and by hour.

        A module that nobody called has zero calls. Raises InvalidInputError for a bad ``hours``.
        """
        since = self._since(hours)
        rows = self._read(since, module_id=module_id, caller_type=caller_type)
        return module_report(module_id, rows, since=start_of(since))

    def _read(self, since: int, module_id: str | None = None, caller_type: str | None = None) -> list[UsageRow]:
        # While nothing is being written, every call is either in the store or still pending, and in only one of them.
        with self._flushing:
            stored = self.store.read(since, module_id=module_id, caller_type=caller_type)
            with self._lock:
                pending = list(_rows(self._pending))
        return [*stored, *(row for row in pending if matches(row, since, module_id, caller_type))]

    def _since(self, hours: int) -> int:
        given: object = hours
        longest = max(self.settings.retention_hours, self.settings.retention_days * 24, _HOURS_PER_YEAR)
        if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= longest:
            raise InvalidInputError(f"hours must be a whole number from 1 to {longest}, not {hours!r}")
        return self._this_hour() - hours + 1

    def _this_hour(self) -> int:
        return int(self._clock() // SECONDS_PER_HOUR)

    def _begin(self, key: _Key, cell: list[Any]) -> None:
        if len(self._pending) < _MOST_PENDING:
            self._pending[key] = cell
            return
        if not self._lost:
            logger.warning("The store of usage does not answer, and memory for it is used up: calls go uncounted")
        self._lost += cell[0]

    def _keep_tidy(self, hour: int) -> None:
        """Where nobody flushes, because all is in memory anyway, old hours go when a new one begins."""
        if hour != self._pruned_hour:
            self.flush()

    def _put_back(self, taken: dict[_Key, list[Any]]) -> None:
        with self._lock:
            for key, cell in taken.items():
                known = self._pending.get(key)
                if known is None:
                    self._begin(key, cell)
                else:
                    for place in _ADDED_UP:
                        known[place] += cell[place]

    def _prune_once_an_hour(self) -> None:
        hour = self._this_hour()
        if self._pruned_hour != hour:
            self.prune()
            self._pruned_hour = hour


def caller_type_of(identity_type: str | None) -> str:
    """The kind of a caller, as usage counts it: the type of its identity, ``anonymous`` without one."""
    return identity_type[:_LONGEST_CALLER_TYPE] if identity_type else ANONYMOUS


def _rows(cells: Mapping[_Key, list[Any]]) -> Iterable[UsageRow]:
    for key, (calls, errors, total_ms, last, faults) in cells.items():
        yield UsageRow(*key, calls, errors, total_ms, last, faults=faults)
