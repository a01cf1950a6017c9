"""Deadlines of module code, sync and async: one watching thread for all calls (§12.7.5).

A call costs two dict operations and no lock. The watcher looks every few seconds, and is woken only by a
call that is due before it would look anyway.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import types
import weakref
from collections.abc import Awaitable, Callable
from math import inf
from time import monotonic
from typing import Any

from apcore.context import Context, tells_to_stop
from apcore.errors import ModuleTimeoutError
from apcore.execution.timed import TimedCall, TimedCoroutine, by_steps
from apcore.execution.windows import HERE, DeadlineInterrupt, Window

logger = logging.getLogger("apcore.execution")


LimitOf = Callable[[Context, float], str]


class Deadlines:
    """Runs functions, and awaits coroutines, until a deadline: on the caller's own thread, on its own event loop.

    At the deadline the call's cancel token is set, and a coroutine is cancelled where it awaits. What still runs
    ``grace`` seconds later is interrupted, and once more after each further period of grace, of a second at least: what
    is raised inside of a finalizer gets lost. Code that blocks inside C (a socket read) is interrupted when it returns
    to Python. ``limit_of(context, deadline)`` says for the log where a deadline comes from.
    """

    def __init__(self, grace: float, limit_of: LimitOf = lambda context, deadline: "its caller's") -> None:
        self.grace = grace
        """Seconds that a module has to react to its cancellation; another value holds for calls that begin later."""
        self._limit_of = limit_of
        self._active: dict[TimedCall, None] = {}
        self._begin()
        os.register_at_fork(after_in_child=_beginner(weakref.ref(self)))

    def _begin(self) -> None:
        """What belongs to this process alone. A lock that another thread held when it forked is held for ever."""
        # Reentrant, because a signal handler or a finalizer may make a call in the middle of ours.
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._next_look = inf
        self._has_watcher = False
        weakref.finalize(self, self._wake.set)

    def begin_in_child(self) -> None:
        """After a fork only the thread that forked lives on, and others may get the IDs of those that do not."""
        self._active = {entry: None for entry in self._active if entry.thread_id == threading.get_ident()}
        self._begin()
        for entry in self._active:
            entry.lock = self._lock

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
        outer = HERE.window
        entry = TimedCall(deadline, deadline + self.grace, context, self._lock)
        self._watch(entry, deadline if outer is None else _nested(entry, outer))
        try:
            HERE.window = entry
            try:
                entry.is_open = True
                if entry.is_owed:
                    entry.reopen()
                result = function(*args)
            finally:
                entry.is_open = False
                if entry.is_due:
                    entry.close()
        except DeadlineInterrupt:
            entry.close()
            if not entry.is_due:
                raise  # it is meant for a call around this one
            raise timed_out(context) from None
        except (Exception, SystemExit) as error:
            if monotonic() > deadline and not tells_to_stop(error):
                raise timed_out(context) from error
            raise
        finally:
            HERE.window = outer
            self._active.pop(entry, None)
            if outer is not None and entry.shut_for_it is not None:
                entry.shut_for_it.reopen()
        if monotonic() > deadline:
            raise timed_out(context)
        return result

    async def wait(self, deadline: float, context: Context, awaitable: Awaitable[Any]) -> Any:
        """What ``awaitable`` gives. Raises ModuleTimeoutError when the deadline passed before, as ``run()`` does."""
        coroutine = awaitable if type(awaitable) is types.CoroutineType else _coroutine(awaitable)
        outer = HERE.window
        entry = TimedCoroutine(deadline, deadline + self.grace, context, self._lock)
        self._watch(entry, deadline if outer is None else _nested(entry, outer))
        try:
            try:
                result = await by_steps(coroutine, entry)
            finally:
                self._active.pop(entry, None)
                is_ours = entry.finish()
        except DeadlineInterrupt:
            if not entry.is_due:
                raise  # it is meant for a call around this one
            raise timed_out(context) from None
        except asyncio.CancelledError as end:
            if not is_ours or not entry.warned:
                raise  # somebody else cancelled the task, or the module awaited something cancelled
            raise timed_out(context) from end
        except (Exception, SystemExit) as error:
            if monotonic() > deadline and not tells_to_stop(error):
                raise timed_out(context) from error
            raise
        if monotonic() > deadline:
            raise timed_out(context)
        return result

    def _watch(self, entry: TimedCall, soonest: float) -> None:
        """Begin to watch a call. First it is there to be seen, then we look when the watcher looks; see `look()`."""
        self._active[entry] = None
        if soonest < self._next_look:
            self.start()
            self._wake.set()

    def look(self) -> float:
        """Act on every call that is past its time; return how many seconds the watcher may sleep."""
        now = monotonic()
        self._report(now)
        self._next_look = inf  # a call that begins from here on may not be seen, and wakes the watcher again
        with self._lock:
            next_look = now + _IDLE_SECONDS
            for entry in tuple(self._active):
                next_look = min(next_look, self._act(entry, now))
            self._next_look = next_look
        return next_look - now

    def _report(self, now: float) -> None:
        """Log whom the watcher is about to interrupt, outside the lock: a slow log would hold up every call."""
        for entry in tuple(self._active):
            if not entry.is_due and now >= entry.end:
                logger.error(
                    "Module %s ignored its deadline (%s) and is interrupted %.0f ms after it",
                    entry.context.call_chain[-1] if entry.context.call_chain else "?",
                    self._limit_of(entry.context, entry.deadline),
                    (now - entry.deadline) * 1000,
                )

    def _act(self, entry: TimedCall, now: float) -> float:
        """When to look again. Under the lock, so that the call cannot end between decision and interrupt."""
        if now >= entry.deadline and not entry.warned:
            entry.warn()
        if now >= entry.end:
            entry.interrupt()
            entry.end = now + max(self.grace, _SECONDS_TO_UNWIND)
        return entry.end if entry.warned else min(entry.deadline, entry.end)


def _nested(entry: TimedCall, outer: Window) -> float:
    """While this call runs the one around it is not interrupted, so its time is ours; when the first of both ends."""
    entry.end = min(entry.end, outer.end)
    if outer.shut():
        entry.shut_for_it = outer
    return min(entry.deadline, entry.end)


_IDLE_SECONDS = 5.0

_SECONDS_TO_UNWIND = 1.0


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


async def _coroutine(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def timed_out(context: Context) -> ModuleTimeoutError:
    """The error of a call that did not finish in time (MODULE_TIMEOUT, §8.2)."""
    module_id = context.call_chain[-1] if context.call_chain else None
    return ModuleTimeoutError(f"Module {module_id!r} did not finish before its deadline", module_id=module_id)
