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

from apcore.context import Context
from apcore.errors import ModuleTimeoutError
from apcore.execution.endings import as_callers_see
from apcore.execution.timed import TimedCall, TimedCoroutine, by_steps
from apcore.execution.windows import HERE, DeadlineInterrupt, Window

logger = logging.getLogger("apcore.execution")

Describe = Callable[[Any, Context, float], str]
"""``describe(function, context, deadline)``: for the log, what ran past which limit."""


class Deadlines:
    """Runs functions, and awaits coroutines, until a deadline: on the caller's own thread, on its own event loop.

    At the deadline the call's cancel token is set, and a coroutine is cancelled where it awaits. What still runs
    ``grace`` seconds later is interrupted, and once more after each further period of grace, of a second at least: what
    is raised inside of a finalizer gets lost. Code that blocks inside C (a socket read) is interrupted when it returns
    to Python.
    """

    def __init__(self, grace: float, describe: Describe | None = None) -> None:
        self.grace = grace
        """Seconds that a module has to react to its cancellation; another value holds for calls that begin later."""
        self._describe = describe
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

    def run(  # noqa: C901 - one step after the other: a function more would be a tenth of what a window costs
        self, deadline: float, context: Context, function: Callable[..., Any], args: tuple[Any, ...] = ()
    ) -> Any:
        """``function(*args)``. Raises ModuleTimeoutError when the deadline passed before it was done, whatever it did.

        Past the deadline it does not even start. A result that comes late is dropped, and so is an error: what
        happened after the deadline never counts.
        """
        if monotonic() > deadline:
            raise timed_out(context)
        seat = HERE.seat
        outer = seat.window
        entry = TimedCall(deadline, deadline + self.grace, context, function, self._lock, seat.thread_id)
        soonest = deadline if outer is None else _nested(entry, outer)
        # First it is there to be seen, then we see when the watcher looks; see `look()`.
        self._active[entry] = None
        if soonest < self._next_look:
            self._wake_watcher()
        try:
            seat.window = entry
            try:
                entry.is_open = True
                if entry.is_due:
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
        except BaseException as error:
            seen = _as_seen_in_time(error, entry)
            if seen is error:
                raise
            raise seen from error
        finally:
            seat.window = outer
            del self._active[entry]
            if outer is not None:
                entry.hand_back()
        if monotonic() > deadline:
            _drop(result)
            raise timed_out(context)
        return result

    async def wait(
        self, deadline: float, context: Context, function: Callable[..., Any], awaitable: Awaitable[Any]
    ) -> Any:
        """What ``awaitable``, which ``function`` returned, gives. Raises ModuleTimeoutError as ``run()`` does."""
        if monotonic() > deadline:
            _drop(awaitable)
            raise timed_out(context)
        coroutine = awaitable if type(awaitable) is types.CoroutineType else _coroutine(awaitable)
        seat = HERE.seat
        outer = seat.window
        entry = TimedCoroutine(deadline, deadline + self.grace, context, function, self._lock, seat.thread_id)
        soonest = deadline if outer is None else _nested(entry, outer)
        self._active[entry] = None
        if soonest < self._next_look:
            self._wake_watcher()
        try:
            try:
                result = await by_steps(coroutine, entry)
            finally:
                self._active.pop(entry, None)  # in a fork, the coroutines of other threads are none of its calls
                is_ours = entry.finish()
        except DeadlineInterrupt:
            if not entry.is_due:
                raise  # it is meant for a call around this one
            raise timed_out(context) from None
        except asyncio.CancelledError as end:
            if not is_ours or not entry.warned:
                raise  # somebody else cancelled the task, or the module awaited something cancelled
            raise timed_out(context) from end
        except BaseException as error:
            seen = _as_seen_in_time(error, entry)
            if seen is error:
                raise
            raise seen from error
        if monotonic() > deadline:
            raise timed_out(context)
        return result

    def _wake_watcher(self) -> None:
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
                late = (now - entry.deadline) * 1000
                logger.error("%s and is interrupted %.0f ms after it", self._described(entry), late)

    def _described(self, entry: TimedCall) -> str:
        """What ran past which limit; whatever that fails with, the watcher must live."""
        context = entry.context
        try:
            if self._describe is not None:
                return self._describe(entry.function, context, entry.deadline)
        except Exception as error:  # noqa: BLE001 - see above
            logger.warning("An overrun cannot be described (%s)", type(error).__name__)
        return f"Module {context.call_chain[-1] if context.call_chain else '?'} ignored its deadline"

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


def _as_seen_in_time(error: BaseException, entry: TimedCall) -> BaseException:
    """What the caller sees of an error; one that comes late is a time-out, unless it ends more than this call."""
    seen = as_callers_see(error, entry.function)
    return timed_out(entry.context) if isinstance(seen, Exception) and monotonic() > entry.deadline else seen


def _drop(result: Any) -> None:
    """Nobody wants it any more: a coroutine that did not begin need not complain that nobody awaits it."""
    if type(result) is types.CoroutineType:
        result.close()


async def _coroutine(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def timed_out(context: Context) -> ModuleTimeoutError:
    """The error of a call that did not finish in time (MODULE_TIMEOUT, §8.2)."""
    module_id = context.call_chain[-1] if context.call_chain else None
    return ModuleTimeoutError(f"Module {module_id!r} did not finish before its deadline", module_id=module_id)
