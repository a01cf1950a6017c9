"""What is remembered of an error, without anything that may be secret, and where it is kept."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from apcore.errors import ConfigError, ModuleError
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, NO_SECRETS, SensitiveValues, redact_text

_LONGEST_MESSAGE: Final = 500
_CHANGING: Final = re.compile(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"  # a UUID
    r"|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"  # a time
    r"|\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b|\b\d{4,}\b",  # a hash, the number of a row
    re.IGNORECASE,
)
"""What differs between two errors that are the same."""


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """One kind of error of a module, and how often it happened.

    ``kind`` is the class of the exception that the module raised, ``where`` the last place in its code (``file:line in
    function``, without the text of the line). ``trace_id`` is that of the latest. Times are seconds since 1970.
    """

    fingerprint: str
    module_id: str
    code: str
    kind: str
    message: str
    where: str
    trace_id: str | None
    count: int
    first_at: float
    last_at: float

    def plus(self, newer: ErrorRecord) -> ErrorRecord:
        """The same error, and how often it happened in both."""
        latest = newer if newer.last_at >= self.last_at else self
        return replace(
            latest,
            count=self.count + newer.count,
            first_at=min(self.first_at, newer.first_at),
        )

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON, times in ISO 8601."""
        return {
            "fingerprint": self.fingerprint,
            "module_id": self.module_id,
            "code": self.code,
            "kind": self.kind,
            "message": self.message,
            "where": self.where,
            "trace_id": self.trace_id,
            "count": self.count,
            "first_at": datetime.fromtimestamp(self.first_at, UTC).isoformat(),
            "last_at": datetime.fromtimestamp(self.last_at, UTC).isoformat(),
        }


@dataclass(frozen=True, slots=True)
class ErrorLimits:
    """How many kinds of errors are remembered (§9.15.2). Raises ConfigError for less than one."""

    per_module: int = 50
    in_all: int = 1000

    def __post_init__(self) -> None:
        values: tuple[object, ...] = (self.per_module, self.in_all)  # a configuration file may say anything
        for value in values:
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigError(f"The limits of observability.error_history are whole numbers from 1, not {value!r}")


class ErrorStore(Protocol):
    """Where records are kept. Adding is safe from several threads and processes at once."""

    def add(self, records: Iterable[ErrorRecord], limits: ErrorLimits) -> None:
        """Add to what is there: counts of one fingerprint add up. Past the limits, those seen longest ago go."""
        ...

    def read(self, *, module_id: str | None = None, limit: int | None = None) -> list[ErrorRecord]:
        """The records, the latest first, optionally of one module."""
        ...


class MemoryErrorStore:
    """Records in this process, gone with it."""

    def __init__(self) -> None:
        self._records: dict[str, ErrorRecord] = {}
        self._lock = threading.Lock()

    def add(self, records: Iterable[ErrorRecord], limits: ErrorLimits) -> None:
        """Add to what is there; past the limits those go that are seen longest ago."""
        with self._lock:
            for record in records:
                known = self._records.pop(record.fingerprint, None)
                self._records[record.fingerprint] = record if known is None else known.plus(record)
            kept = limited(newest_first(self._records.values()), limits)
            self._records = {record.fingerprint: record for record in kept}

    def read(self, *, module_id: str | None = None, limit: int | None = None) -> list[ErrorRecord]:
        """The records, the latest first, optionally of one module."""
        with self._lock:
            records = list(self._records.values())
        return newest_first(each for each in records if module_id in (None, each.module_id))[:limit]


def newest_first(records: Iterable[ErrorRecord]) -> list[ErrorRecord]:
    """In the order in which records are told."""
    return sorted(records, key=lambda each: (-each.last_at, each.fingerprint))


def limited(newest: Iterable[ErrorRecord], limits: ErrorLimits) -> Iterator[ErrorRecord]:
    """Those of the records, newest first, that the limits leave."""
    of_module: dict[str, int] = {}
    in_all = 0
    for record in newest:
        number = of_module[record.module_id] = of_module.get(record.module_id, 0) + 1
        if number <= limits.per_module and in_all < limits.in_all:
            in_all += 1
            yield record


def record_of(
    module_id: str,
    error: BaseException,
    *,
    trace_id: str | None,
    at: float,
    secrets: SensitiveValues = NO_SECRETS,
    keys: Collection[str] = DEFAULT_SENSITIVE_KEYS,
) -> ErrorRecord:
    """What may be remembered of an error.

    The text of an exception that no module meant for its caller is never used, since it may hold anything; other
    messages lose the ``secrets`` of the call, and what looks like one or goes by a name in ``keys``.
    """
    original = _original(error)
    code = secrets.hide(error.code) if isinstance(error, ModuleError) else "MODULE_EXECUTE_ERROR"
    message = error.message if isinstance(error, ModuleError) else f"Unexpected error ({type(error).__name__})"
    kind, where = type(original).__name__, _place(original)
    shown = redact_text(secrets.hide(message), keys)[:_LONGEST_MESSAGE]
    stable = _CHANGING.sub("…", shown)
    essence = repr((module_id, code, kind, where, stable))
    fingerprint = hashlib.sha256(essence.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return ErrorRecord(fingerprint, module_id, code, kind, shown, where, trace_id, 1, at, at)


def _original(error: BaseException) -> BaseException:
    """What the module raised, where the framework wrapped it."""
    cause = error.cause if isinstance(error, ModuleError) else None
    return cause if isinstance(cause, BaseException) else error


def _place(error: BaseException) -> str:
    """Where it was raised: file, line and function, and no text of the line."""
    trace = error.__traceback__
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    path = "/".join(code.co_filename.replace("\\", "/").split("/")[-3:])
    return f"{path}:{trace.tb_lineno} in {code.co_name}"
