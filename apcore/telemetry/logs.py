"""Structured logs without secrets (§10.2, §9.15.2)."""

from __future__ import annotations

import copy
import json
import logging
import sys
from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, TextIO
from uuid import UUID

from apcore.context import is_trace_id
from apcore.errors.telling import told
from apcore.plain import plain
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, redact, redact_text
from apcore.telemetry.running import running_call
from apcore.telemetry.settings import LoggingSettings

TRACE: Final = 5
"""Below `logging.DEBUG`, which Python has no name for."""

_LEVELS: Final = {"trace": TRACE, "debug": 10, "info": 20, "warn": 30, "error": 40, "fatal": 50}
_HARMLESS: Final = (date, time, timedelta, Decimal, UUID)
_TOLD: Final = "exc_text_is_told"
"""Set on a record whose ``exc_text`` is what ``told()`` says."""
_OWN: Final = frozenset(
    {*vars(logging.makeLogRecord({})), "message", "asctime", "trace_id", "module_id", "taskName", _TOLD}
)


def level_number(name: str) -> int:
    """Python's number of a level of the protocol (§10.2). Raises KeyError for any other word."""
    return _LEVELS[name]


def level_name(number: int) -> str:
    """The level of the protocol that a number belongs to: the highest one that it reaches."""
    reached = [name for name, least in _LEVELS.items() if number >= least]
    return reached[-1] if reached else "trace"


class RedactingFilter(logging.Filter):
    """Takes the secrets out of each record that passes, for handlers whose formatter is another one, and for queues.

    Hidden are credentials by their form, what a sensitive name is set to, the values of sensitive keys in ``extra``,
    and the sensitive inputs of the call that runs (where the `logging` middleware keeps track of it). Of an exception
    the kinds and places stay; its text and source lines may hold anything. Handlers further on see the same record.
    """

    def __init__(self, sensitive_keys: Collection[str] = ()) -> None:
        super().__init__()
        self._keys = DEFAULT_SENSITIVE_KEYS.union(sensitive_keys)

    def filter(self, record: logging.LogRecord) -> bool:
        """Always true: nothing is left out but secrets."""
        vars(record).update(vars(without_secrets(record, self._keys)))
        return True


def without_secrets(record: logging.LogRecord, keys: Collection[str]) -> logging.LogRecord:
    """A copy of the record with nothing in it that may not be seen."""
    call = running_call()

    def text(value: str) -> str:
        return redact_text(str(call.hide(value)) if call is not None else value, keys)

    def parts(value: Any) -> Any:
        return redact(call.hide(value) if call is not None else value, None, keys)

    clean = copy.copy(record)
    if record.args:  # what is told as an object says which of its parts are secret, and its text may not
        clean.args = parts(record.args) if isinstance(record.args, Mapping) else tuple(parts(list(record.args)))
    clean.msg, clean.args = text(_message(clean)), None
    if record.exc_info:
        clean.exc_text, clean.exc_info = text(told(record.exc_info[1])), None
        vars(clean)[_TOLD] = True
    elif not getattr(record, _TOLD, False):
        clean.exc_text = None  # somebody else's text, with the exception's own in it
    clean.stack_info = None
    extra = {name: value for name, value in vars(record).items() if name not in _OWN}
    if extra:
        vars(clean).update(parts(extra))
    return clean


class _Formatter(logging.Formatter):
    def __init__(self, *, redact: bool = True, sensitive_keys: Collection[str] = ()) -> None:
        super().__init__()
        self._keys = DEFAULT_SENSITIVE_KEYS.union(sensitive_keys) if redact else None

    def _shown(self, record: logging.LogRecord) -> logging.LogRecord:
        return record if self._keys is None else without_secrets(record, self._keys)


class JsonFormatter(_Formatter):
    """One JSON object per line: timestamp, level, message, trace_id, module_id, extra (§10.2).

    Trace and module are those of the record, else of the call that runs; without one they are null. Secrets are left
    out as by a `RedactingFilter`, unless ``redact`` is false.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        record = self._shown(record)
        entry = {
            "timestamp": _timestamp(record),
            "level": level_name(record.levelno),
            "message": _message(record),
            **_place(record),
            "extra": {"logger": record.name, **_extra(record)},
        }
        return json.dumps(plain(entry, told=_told))


class TextFormatter(_Formatter):
    """The same for people. Further lines of a message, and the kinds and places of an exception, are indented, and of
    ``extra`` only single values are shown."""

    def format(self, record: logging.LogRecord) -> str:
        """The text."""
        record = self._shown(record)
        parts = [_timestamp(record), f"{level_name(record.levelno):5}", f"{record.name}:", _indented(_message(record))]
        parts += [f"{key}={value}" for key, value in _place(record).items() if value is not None]
        extra = _extra(record)
        error = extra.pop("exception", None)
        scalars = {key: value for key, value in extra.items() if not isinstance(value, (Mapping, list, tuple))}
        parts += [f"{key}={json.dumps(plain(value, told=_told))}" for key, value in scalars.items()]
        return " ".join(parts) + (f"\n    {_indented(error)}" if error else "")


def log_handler(
    settings: LoggingSettings, stream: TextIO | None = None, sensitive_keys: Collection[str] = ()
) -> logging.Handler:
    """A handler as the settings say: level, format and redaction. It writes to standard error."""
    handler = logging.StreamHandler(stream if stream is not None else sys.stderr)
    handler.setLevel(level_number(settings.level))
    formatter = JsonFormatter if settings.format == "json" else TextFormatter
    handler.setFormatter(formatter(redact=settings.redact_sensitive, sensitive_keys=sensitive_keys))
    return handler


def configure_logging(
    settings: LoggingSettings,
    *,
    logger: logging.Logger | None = None,
    stream: TextIO | None = None,
    sensitive_keys: Collection[str] = (),
) -> logging.Handler | None:
    """Let a logger, `apcore` if none is given, write as the settings say; its records go nowhere else then.

    For programs: a library leaves the loggers of its process alone, and so does an App. Returns the handler that
    was added, None when logging is switched off.
    """
    logger = logger if logger is not None else logging.getLogger("apcore")
    if not settings.enabled:
        return None
    handler = log_handler(settings, stream, sensitive_keys)
    logger.addHandler(handler)
    logger.setLevel(level_number(settings.level))
    logger.propagate = False
    return handler


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:  # noqa: BLE001 - a line that cannot be put together must not end the call that logs it
        return f"{record.msg} ({type(error).__name__} in its arguments)"


def _timestamp(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _place(record: logging.LogRecord) -> dict[str, str | None]:
    call = running_call()
    trace_id = getattr(record, "trace_id", None) or (call.trace_id if call is not None else None)
    module_id = getattr(record, "module_id", None) or (call.module_id if call is not None else None)
    return {"trace_id": trace_id if is_trace_id(trace_id) else None, "module_id": module_id and str(module_id)}


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    extra = {name: value for name, value in vars(record).items() if name not in _OWN}
    error = record.exc_text or (told(record.exc_info[1]) if record.exc_info else None)
    return {**extra, "exception": error} if error else extra


def _indented(text: str) -> str:
    """A line break in a message must not look like another entry."""
    return "\n    ".join(text.splitlines())


def _told(value: object) -> str:
    """What JSON does not know is named by its kind, unless its text cannot hold a secret."""
    return str(value) if isinstance(value, _HARMLESS) else f"<{type(value).__name__}>"
