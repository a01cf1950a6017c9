"""The error history that lives in the database."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from django.db import Error, router

from apcore.telemetry import error_records
from apcore.telemetry.error_records import ErrorLimits
from django_apcore.models import ErrorRecord
from django_apcore.models.fields import storable
from django_apcore.stores._apart import transaction_apart, upsert

_COLUMNS: Final = (
    "fingerprint",
    "module_id",
    "code",
    "kind",
    "message",
    "where",
    "trace_id",
    "count",
    "first_at",
    "last_at",
)
_LATEST: Final = ("message", "trace_id", "last_at")
_ADD: Final = ", ".join(
    [
        *(
            f"{name} = CASE WHEN excluded.last_at >= {{table}}.last_at THEN excluded.{name} ELSE {{table}}.{name} END"
            for name in _LATEST
        ),
        "first_at = CASE WHEN excluded.first_at < {table}.first_at THEN excluded.first_at ELSE {table}.first_at END",
        '"count" = {table}."count" + excluded."count"',
    ]
)
_BATCH: Final = 50


class DatabaseErrorStore:
    """Records of all processes in one table, added to by additive upserts, apart from the caller's transaction."""

    def add(self, records: Iterable[error_records.ErrorRecord], limits: ErrorLimits) -> None:
        """Add to what is there; past the limits those go that are seen longest ago."""
        ordered = sorted(records, key=lambda record: record.fingerprint)
        with transaction_apart(_writing()):
            for first in range(0, len(ordered), _BATCH):
                values = [_values(record) for record in ordered[first : first + _BATCH]]
                upsert(_writing(), ErrorRecord, _COLUMNS, values, on="fingerprint", update=_ADD)
        # What was added stays added if this fails, and the next to add makes room.
        with suppress(Error):
            _make_room({record.module_id for record in ordered}, limits)

    def read(self, *, module_id: str | None = None, limit: int | None = None) -> list[error_records.ErrorRecord]:
        """The records, the latest first, optionally of one module."""
        found = ErrorRecord.objects.using(router.db_for_read(ErrorRecord)).order_by("-last_at", "fingerprint")
        if module_id is not None:
            found = found.filter(module_id=module_id)
        return [_record(row) for row in found[:limit]]


def _make_room(modules: set[str], limits: ErrorLimits) -> None:
    """Delete what is too much, row by row and each in its own transaction, so that nobody deadlocks."""
    rows = ErrorRecord.objects.using(_writing()).order_by("-last_at", "fingerprint").values_list("pk", flat=True)
    with transaction_apart(_writing()):
        of_modules = [rows.filter(module_id=module_id)[limits.per_module :] for module_id in sorted(modules)]
        too_many = sorted({key for some in [*of_modules, rows[limits.in_all :]] for key in some})
    for key in too_many:
        with transaction_apart(_writing()):
            ErrorRecord.objects.using(_writing()).filter(pk=key).delete()


def _values(record: error_records.ErrorRecord) -> tuple[object, ...]:
    return (
        record.fingerprint,
        record.module_id,
        storable(record.code)[:128],
        storable(record.kind)[:128],
        storable(record.message),
        storable(record.where)[:255],
        record.trace_id or "",
        record.count,
        datetime.fromtimestamp(record.first_at, UTC),
        datetime.fromtimestamp(record.last_at, UTC),
    )


def _record(row: ErrorRecord) -> error_records.ErrorRecord:
    return error_records.ErrorRecord(
        fingerprint=row.fingerprint,
        module_id=row.module_id,
        code=row.code,
        kind=row.kind,
        message=row.message,
        where=row.where,
        trace_id=row.trace_id or None,
        count=row.count,
        first_at=row.first_at.timestamp(),
        last_at=row.last_at.timestamp(),
    )


def _writing() -> str:
    return router.db_for_write(ErrorRecord)
