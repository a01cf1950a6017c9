"""Deadlines of synchronous code: one watching thread for all calls (§12.7.5).

A call costs two dict operations and two uncontended locks. The watcher looks every few seconds, and is woken only by a
call that is due before it would look anyway.
"""

from __future__ import annotations

import ctypes
import logging
import os
import threading
import weakref
from collections.abc import Callable
from time import monotonic
from typing import Any

from apcore.context import Context
from apcore.errors import ModuleTimeoutError

logger = logging.getLogger("apcore.execution")


class DeadlineInterrupt(BaseException):
    """Raised inside a thread that ignored its deadline; no Exception, so that ``except Exception`` lets it through."""


class _Entry:
    __slots__ = ("context", "deadline", "interrupted", "thread_id", "warned")

    def __init__(self, deadline: float, context: Context) -> None:
        self.deadline = deadline
        self.context = context
        self.thread_id = threading.get_ident()
        self.warned = False
        self.interrupted = False


class Deadlines:
    """Runs functions until a deadline, on the caller's own thread.

    At the deadline the call's cancel token is set; ``grace`` seconds later a thread that still runs is interrupted.
    Code that blocks inside C (a socket read) is interrupted when it returns to Python.
    """

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._active: dict[_Entry, None] = {}
        self._begin()
        os.register_at_fork(after_in_child=_beginner(weakref.ref(self)))

    @property
    def grace(self) -> float:
        """Seconds that a module has to react to its cancellation."""
        return self._grace

    def _begin(self) -> None:
        """What belongs to this process alone. A lock that another thread held when it forked is held for ever."""
        # Reentrant, because a signal handler or a finalizer may make a call in the middle of ours.
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._next_look = 0.0
        self._has_watcher = False
        weakref.finalize(self, self._wake.set)

    def begin_in_child(self) -> None:
        """After a fork only the thread that forked lives on, and others may get the IDs of those that do not."""
        self._active = {entry: None for entry in self._active if entry.thread_id == threading.get_ident()}
        self._begin()

    def start(self) -> None:
        """Start the watcher unless this process has it; the first call after a fork does so by itself."""
        with self._lock:
            if not self._has_watcher:
                threading.Thread(
                    target=_watch, args=(weakref.ref(self), self._wake), name="apcore-deadlines", daemon=True
                ).start()
                self._has_watcher = True

    def run(self, deadline: float, context: Context, function: Callable[..., Any], /, *args: Any) -> Any:
        """``function(*args)``. Raises ModuleTimeoutError when the deadline passed before it was done, whatever it did.

        Past the deadline it does not even start. A result that comes late is dropped, and so is an error: what
        happened after the deadline never counts.
        """
        if monotonic() > deadline:
            raise timed_out(context)
        entry = _Entry(deadline, context)
        try:
            self._enter(entry)
            try:
                result = function(*args)
            finally:
                self._leave(entry)
        except DeadlineInterrupt:
            self._leave(entry)
            if not entry.interrupted:
                raise  # it is meant for a call around this one
            raise timed_out(context) from None
        except Exception as error:
            if monotonic() > deadline:
                raise timed_out(context) from error
            raise
        if monotonic() > deadline:
            raise timed_out(context)
        return result

    def _enter(self, entry: _Entry) -> None:
        if not self._has_watcher:
            self.start()
        with self._lock:
            self._active[entry] = None
            due_earlier = entry.deadline < self._next_look
        if due_earlier:
            self._wake.set()

    def _leave(self, entry: _Entry) -> None:
        with self._lock:
            self._active.pop(entry, None)
            if entry.interrupted:
                # Scheduled but perhaps not delivered yet: it must not hit whatever this thread does next, unless that
                # is a call around this one, which was interrupted at the same time.
                _schedule_interrupt(entry.thread_id, DeadlineInterrupt if self._is_interrupted(entry) else None)

    def _is_interrupted(self, inner: _Entry) -> bool:
        return any(entry.interrupted and entry.thread_id == inner.thread_id for entry in self._active)

    def look(self) -> float:
        """Act on every call that is past its time; return how many seconds the watcher may sleep."""
        now = monotonic()
        self._report(now)
        with self._lock:
            next_look = now + _IDLE_SECONDS
            for entry in tuple(self._active):
                next_look = min(next_look, self._act(entry, now))
            self._next_look = next_look
        return next_look - now

    def _report(self, now: float) -> None:
        """Log whom the watcher is about to interrupt, outside the lock: a slow log would hold up every call."""
        for entry in tuple(self._active):
            if not entry.interrupted and now >= entry.deadline + self._grace:
                logger.error(
                    "Module %s ignored its deadline and is interrupted %.0f ms after it",
                    entry.context.call_chain[-1] if entry.context.call_chain else "?",
                    (now - entry.deadline) * 1000,
                )

    def _act(self, entry: _Entry, now: float) -> float:
        """When to look again. Under the lock, so that the call cannot end between decision and interrupt."""
        if now < entry.deadline:
            return entry.deadline
        if not entry.warned:
            entry.warned = True
            if entry.context.cancel_token is not None:
                entry.context.cancel_token.cancel(DEADLINE_PASSED)
        end = entry.deadline + self._grace
        if now < end:
            return end
        if not entry.interrupted:
            entry.interrupted = True
            _schedule_interrupt(entry.thread_id, DeadlineInterrupt)
        return now + _IDLE_SECONDS


DEADLINE_PASSED = "the deadline has passed"
"""The reason in the cancel token of a call whose time is over."""

_IDLE_SECONDS = 5.0


def _beginner(reference: weakref.ref[Deadlines]) -> Callable[[], None]:
    """What to do in a forked process; fork hooks stay for ever, so this one holds no strong reference."""

    def begin() -> None:
        deadlines = reference()
        if deadlines is not None:
            deadlines.begin_in_child()

    return begin


def _watch(reference: weakref.ref[Deadlines], wake: threading.Event) -> None:
    """The watcher's loop. It holds no strong reference while it sleeps, so it ends with its owner."""
    seconds = 0.0
    while True:
        wake.wait(seconds)
        wake.clear()
        deadlines = reference()
        if deadlines is None:
            return
        seconds = deadlines.look()
        del deadlines


def _schedule_interrupt(thread_id: int, exception: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread_id), ctypes.py_object(exception) if exception else None
    )


def timed_out(context: Context) -> ModuleTimeoutError:
    """The error of a call that did not finish in time (MODULE_TIMEOUT, §8.2)."""
    module_id = context.call_chain[-1] if context.call_chain else None
    return ModuleTimeoutError(f"Module {module_id!r} did not finish before its deadline", module_id=module_id)
