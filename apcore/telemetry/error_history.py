"""Which errors happened lately, each kind once with its count (§9.15.2)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from apcore.errors import require
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, NO_SECRETS, SensitiveValues
from apcore.telemetry.error_records import (
    ErrorLimits,
    ErrorRecord,
    ErrorStore,
    MemoryErrorStore,
    limited,
    newest_first,
    record_of,
)
from apcore.telemetry.flushing import Flusher, call_in_children

_NAMES: Final = {"max_entries_per_module": "per_module", "max_total_entries": "in_all"}


class ErrorHistory:
    """The latest kinds of errors: at most 50 of a module and 1000 in all, unless configured otherwise (§9.15.2).

    Errors with the same code, kind, place and message are one entry with a count; numbers of rows and the like make no
    difference. No entry holds inputs or the text of an unexpected exception. With a ``flusher``, entries reach the
    ``store`` some seconds later; ``entries()`` holds what this process has not yet written.
    """

    def __init__(
        self,
        store: ErrorStore | None = None,
        *,
        limits: ErrorLimits | None = None,
        flusher: Flusher | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = MemoryErrorStore() if store is None else store
        self.limits = ErrorLimits() if limits is None else limits
        require("limits", self.limits, ErrorLimits, "ErrorLimits")
        if flusher is not None:
            require("flusher", flusher, Flusher, "a Flusher")
        require("clock", clock, Callable, "a function that gives seconds")
        self._flusher = flusher
        self._clock = clock
        self.start_anew()
        call_in_children(self, ErrorHistory.start_anew)
        if flusher is not None:
            flusher.add(self)

    def start_anew(self) -> None:
        """Forget what was not yet written: in a forked child that is the parent's to write."""
        self._lock = threading.Lock()
        self._flushing = threading.RLock()
        self._pending = MemoryErrorStore()

    @property
    def is_pending(self) -> bool:
        """Whether something was recorded and is not yet written."""
        return bool(self._pending.read(limit=1))

    def record(
        self,
        module_id: str,
        error: BaseException,
        *,
        trace_id: str | None = None,
        secrets: SensitiveValues = NO_SECRETS,
        keys: Collection[str] = DEFAULT_SENSITIVE_KEYS,
    ) -> ErrorRecord:
        """Remember an error that came out of a module, without the ``secrets`` of the call and what its message says
        under names in ``keys``. Returns the entry.
        """
        record = record_of(module_id, error, trace_id=trace_id, at=self._clock(), secrets=secrets, keys=keys)
        if self._flusher is None:
            self.store.add([record], self.limits)
        else:
            with self._lock:
                self._pending.add([record], self.limits)
            self._flusher.wake()
        return record

    def entries(self, module_id: str | None = None, limit: int | None = None) -> list[ErrorRecord]:
        """The errors, the latest first, optionally those of one module, and at most ``limit`` of them."""
        with self._flushing:
            stored = self.store.read(module_id=module_id)
            pending = self._pending.read(module_id=module_id)
        if not pending:
            return stored[:limit]
        merged = {record.fingerprint: record for record in stored}
        for record in pending:
            known = merged.get(record.fingerprint)
            merged[record.fingerprint] = record if known is None else known.plus(record)
        return list(limited(newest_first(merged.values()), self.limits))[:limit]

    def flush(self) -> None:
        """Write what is pending to the store. What raises stays pending."""
        with self._flushing:
            with self._lock:
                taken, self._pending = self._pending.read(), MemoryErrorStore()
            if not taken:
                return
            try:
                self.store.add(taken, self.limits)
            except BaseException:
                with self._lock:
                    self._pending.add(taken, self.limits)
                raise


def limits_from(values: Mapping[str, Any]) -> ErrorLimits:
    """Read the section ``observability.error_history``. Raises ConfigError for what is no limit."""
    return ErrorLimits(**{ours: values[name] for name, ours in _NAMES.items() if name in values})
