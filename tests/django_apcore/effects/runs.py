"""Short forms for running something governed."""

from collections.abc import Callable
from typing import Any

from django.db import connection

from apcore.approval import EffectDriftError
from apcore.effects import EffectRecord
from apcore.modules import Change
from django_apcore.effects import governed

Write = Callable[[], Any]


def preview(write: Write, **options: Any) -> EffectRecord:
    """What it would do."""
    with governed(commit=False, **options) as run:
        write()
    return run.record


def execute(write: Write, **options: Any) -> EffectRecord:
    """Do it, whatever it does."""
    with governed(commit=True, **options) as run:
        write()
    return run.record


def execute_approved(write: Write, digest: str, **options: Any) -> EffectRecord:
    """Do it if it has the effect with this digest. Raises EffectDriftError."""

    def last(record: EffectRecord) -> None:
        if record.digest != digest:
            raise EffectDriftError(record)

    with governed(commit=True, last=last, **options) as run:
        write()
    return run.record


def close_here() -> None:
    """Close the connection of this thread, also one to SQLite in memory, which Django would keep."""
    connection._close()
    connection.connection = None


def only_change(record: EffectRecord) -> Change:
    """The one change of a record."""
    [change] = record.changes
    return change
