"""The rows that usage is kept in, the port to where they are kept, and a store in memory (§10.4)."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Protocol

SECONDS_PER_HOUR: Final = 3600
HOURS_PER_DAY: Final = 24


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The calls of one module, by one kind of caller, in one period, that took about equally long.

    ``hour`` counts hours since 1970 in UTC; ``span`` is 1, or 24 where hours were merged into a day. ``bin`` is the
    number of the latency bin (`apcore.telemetry.latency`), ``last_called_at`` seconds since 1970. ``faults`` are those
    of the ``errors`` that are the module's own.
    """

    hour: int
    module_id: str
    caller_type: str
    bin: int
    calls: int
    errors: int
    total_ms: float
    last_called_at: float
    span: int = 1
    faults: int = 0

    @property
    def key(self) -> tuple[int, int, str, str, int]:
        """What rows have in common that are added up."""
        return (self.hour, self.span, self.module_id, self.caller_type, self.bin)

    def plus(self, other: UsageRow) -> UsageRow:
        """Both rows as one."""
        return replace(
            self,
            calls=self.calls + other.calls,
            errors=self.errors + other.errors,
            faults=self.faults + other.faults,
            total_ms=self.total_ms + other.total_ms,
            last_called_at=max(self.last_called_at, other.last_called_at),
        )

    def as_day(self) -> UsageRow:
        """The same calls as part of their day."""
        return replace(self, hour=self.hour - self.hour % HOURS_PER_DAY, span=HOURS_PER_DAY)


class UsageStore(Protocol):
    """Where rows are kept. Adding is safe from several threads and processes at once."""

    def add(self, rows: Iterable[UsageRow]) -> None:
        """Add to what is there, all or nothing: counts and durations add up, of last calls the latest stays."""
        ...

    def read(self, since_hour: int, *, module_id: str | None = None, caller_type: str | None = None) -> list[UsageRow]:
        """The rows of all periods that begin with ``since_hour`` or later, optionally of one module or kind."""
        ...

    def prune(self, *, hours_before: int, days_before: int) -> int:
        """Merge what is older than the hour ``hours_before`` into days, and drop the days before ``days_before``.

        Both are numbers of hours. Returns how many rows went.
        """
        ...


class MemoryUsageStore:
    """Rows in this process, gone with it."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int, str, str, int], UsageRow] = {}
        self._lock = threading.Lock()

    def add(self, rows: Iterable[UsageRow]) -> None:
        """Add to what is there."""
        with self._lock:
            self._add(rows)

    def read(self, since_hour: int, *, module_id: str | None = None, caller_type: str | None = None) -> list[UsageRow]:
        """The rows of all periods that begin with ``since_hour`` or later, optionally of one module or kind."""
        with self._lock:
            rows = list(self._rows.values())
        return [row for row in rows if matches(row, since_hour, module_id, caller_type)]

    def prune(self, *, hours_before: int, days_before: int) -> int:
        """Merge what is older than the hour ``hours_before`` into days, and drop the days before ``days_before``."""
        with self._lock:
            old = [row for row in self._rows.values() if row.span == 1 and row.hour < hours_before]
            for row in old:
                del self._rows[row.key]
            self._add(row.as_day() for row in old)
            days = [row for row in self._rows.values() if row.span > 1 and row.hour + row.span <= days_before]
            for row in days:
                del self._rows[row.key]
            return len(old) + len(days)

    def _add(self, rows: Iterable[UsageRow]) -> None:
        for row in rows:
            known = self._rows.get(row.key)
            self._rows[row.key] = row if known is None else known.plus(row)


def matches(row: UsageRow, since_hour: int, module_id: str | None, caller_type: str | None) -> bool:
    """Whether a row is one of those that `UsageStore.read` returns."""
    return row.hour >= since_hour and module_id in (None, row.module_id) and caller_type in (None, row.caller_type)
