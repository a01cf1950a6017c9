"""Usage that lives in the database."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import router

from apcore.telemetry.usage_reports import start_of
from apcore.telemetry.usage_rows import HOURS_PER_DAY, SECONDS_PER_HOUR, UsageRow
from django_apcore.models import UsageBucket
from django_apcore.stores._apart import transaction_apart, upsert

_COLUMNS: Final = (
    "start",
    "hours",
    "module_id",
    "caller_type",
    "latency_bin",
    "calls",
    "errors",
    "faults",
    "total_ms",
    "last_called_at",
)
_ON: Final = "start, hours, module_id, caller_type, latency_bin"
_ADDED_UP: Final = ("calls", "errors", "faults", "total_ms")
_LATEST: Final = (
    "last_called_at = CASE WHEN excluded.last_called_at > {table}.last_called_at "
    "THEN excluded.last_called_at ELSE {table}.last_called_at END"
)
_ADD: Final = ", ".join([*(f"{name} = {{table}}.{name} + excluded.{name}" for name in _ADDED_UP), _LATEST])
_BATCH: Final = 100  # times ten columns is less than what any SQLite takes as parameters


class DatabaseUsageStore:
    """Rows of all processes in one table, added to by additive upserts, apart from the caller's transaction (§10.4)."""

    def add(self, rows: Iterable[UsageRow]) -> None:
        """Add to what is there, all or nothing. Processes lock rows in one order, so they cannot deadlock."""
        with transaction_apart(_writing()):
            _add(rows)

    def read(self, since_hour: int, *, module_id: str | None = None, caller_type: str | None = None) -> list[UsageRow]:
        """The rows of all periods that begin with ``since_hour`` or later, optionally of one module or kind."""
        found = UsageBucket.objects.using(router.db_for_read(UsageBucket)).filter(start__gte=start_of(since_hour))
        if module_id is not None:
            found = found.filter(module_id=module_id)
        if caller_type is not None:
            found = found.filter(caller_type=caller_type)
        return [_row(bucket) for bucket in found]

    def prune(self, *, hours_before: int, days_before: int) -> int:
        """Merge old hours into days, hour by hour, each in one transaction; drop old days. Returns how many rows went.

        Several processes may do so at once: who comes second finds the rows gone.
        """
        alias = _writing()
        with transaction_apart(alias):
            hourly = UsageBucket.objects.using(alias).filter(hours=1, start__lt=start_of(hours_before))
            starts = sorted(hourly.values_list("start", flat=True).distinct())
        merged = sum(map(_merge, starts))
        last_start = start_of(days_before) - timedelta(hours=HOURS_PER_DAY)
        with transaction_apart(alias):
            days = UsageBucket.objects.using(alias).filter(hours=HOURS_PER_DAY, start__lte=last_start)
            return merged + days.delete()[0]


def _merge(start: datetime) -> int:
    """Add the buckets of one hour to those of its day, and delete them."""
    with transaction_apart(_writing()):
        buckets = UsageBucket.objects.using(_writing()).filter(hours=1, start=start)
        rows = list(buckets.select_for_update().order_by("pk"))
        _add(_row(bucket).as_day() for bucket in rows)
        buckets.filter(pk__in=[bucket.pk for bucket in rows]).delete()
    return len(rows)


def _add(rows: Iterable[UsageRow]) -> None:
    ordered = sorted(rows, key=lambda row: row.key)
    for first in range(0, len(ordered), _BATCH):
        values = [_values(row) for row in ordered[first : first + _BATCH]]
        upsert(_writing(), UsageBucket, _COLUMNS, values, on=_ON, update=_ADD)


def _values(row: UsageRow) -> tuple[object, ...]:
    return (
        start_of(row.hour),
        row.span,
        row.module_id,
        row.caller_type,
        row.bin,
        row.calls,
        row.errors,
        row.faults,
        row.total_ms,
        datetime.fromtimestamp(row.last_called_at, UTC),
    )


def _row(bucket: UsageBucket) -> UsageRow:
    return UsageRow(
        hour=int(bucket.start.timestamp()) // SECONDS_PER_HOUR,
        module_id=bucket.module_id,
        caller_type=bucket.caller_type,
        bin=bucket.latency_bin,
        calls=bucket.calls,
        errors=bucket.errors,
        faults=bucket.faults,
        total_ms=bucket.total_ms,
        last_called_at=bucket.last_called_at.timestamp(),
        span=bucket.hours,
    )


def _writing() -> str:
    return router.db_for_write(UsageBucket)
