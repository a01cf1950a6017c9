"""A timer that writes down what calls left behind, away from the calls themselves."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

logger = logging.getLogger("apcore.telemetry")

T = TypeVar("T")

_LONGEST_PAUSE: Final = 60.0
"""How long a flush that failed waits at most before it is tried again, in seconds."""


class Buffer(Protocol):
    """Something that collects in memory what has to be written down."""

    @property
    def is_pending(self) -> bool:
        """Whether there is something to write."""
        ...

    def flush(self) -> None:
        """Write it. What raises stays in the buffer."""
        ...

    def start_anew(self) -> None:
        """Forget what is pending: this is a child process, and its parent writes it."""
        ...


class Flusher:
    """Flushes its buffers ``seconds`` after the first of them has something, on a thread that lives only that long.

    So an idle process has no thread, and a forked child starts one of its own when it has something to write. When a
    flush fails, one warning is logged, and it is tried again, less and less often, until it succeeds.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._buffers: tuple[Buffer, ...] = ()
        self._thread: threading.Thread | None = None
        self._has_warned = False
        self._start_anew()
        call_in_children(self, Flusher._in_child)

    def add(self, buffer: Buffer) -> None:
        """Flush this buffer too."""
        self._buffers = (*self._buffers, buffer)

    def wake(self) -> None:
        """A buffer is not empty any more. Costs the caller no more than the start of a thread."""
        with self._lock:
            if self._thread is not None or self._is_stopped:
                return
            thread = threading.Thread(target=self._run, name="apcore-flush", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter is shutting down; `stop()` flushes
                return
            self._thread = thread

    def flush(self) -> bool:
        """Flush all buffers now, on this thread. Whether all could be written."""
        failures = [error for error in map(_failure, self._buffers) if error is not None]
        if failures and not self._has_warned:
            logger.warning(
                "Usage and errors cannot be written (%s); they are kept in memory, and it is tried again",
                type(failures[0]).__name__,
            )
        elif not failures and self._has_warned:
            logger.info("Usage and errors are written again")
        self._has_warned = bool(failures)
        return not failures

    def stop(self) -> None:
        """Flush a last time and start no thread any more. For the end of the process."""
        self._is_stopped = True
        self._over.set()
        self.flush()

    def _run(self) -> None:
        pause = self.seconds
        while not self._over.wait(pause):
            pause = self.seconds if self.flush() else min(2 * pause, _LONGEST_PAUSE)
            with self._lock:
                if not any(each.is_pending for each in self._buffers):
                    self._thread = None
                    return

    def _start_anew(self) -> None:
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = None
        self._is_stopped = self._has_warned = False

    def _in_child(self) -> None:
        for buffer in self._buffers:
            buffer.start_anew()
        self._start_anew()


def _failure(buffer: Buffer) -> Exception | None:
    try:
        buffer.flush()
    except Exception as error:  # noqa: BLE001 - whatever a store raises, the counts are kept
        return error
    return None


def call_in_children(owner: T, react: Callable[[T], None]) -> None:
    """Call ``react(owner)`` in every child that this process forks from now on, as long as ``owner`` lives."""
    reference = weakref.ref(owner)

    def in_child() -> None:
        alive = reference()
        if alive is not None:
            react(alive)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_child)
