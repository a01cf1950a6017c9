"""When a thread may be interrupted: only while it runs the code of the very call that is late (§12.7.5).

An interrupt is raised wherever its thread happens to be. So each call has a window, which is open as long as the thread
is in the function that was called: not before, not after, and not while that function waits for a call inside of it,
since then the thread is busy with locks, transactions and event loops of others. Of the windows of a thread at most
one is open, so at most one interrupt is ever on its way to it.
"""

from __future__ import annotations

import ctypes
import threading
import types
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from threading import get_ident
from typing import Any, TypeVar

T = TypeVar("T")


class DeadlineInterrupt(BaseException):
    """Raised inside a thread that ignored its deadline; no Exception, so that ``except Exception`` lets it through."""


class Window:
    """Whether one call may be interrupted. ``lock`` is what whoever interrupts holds meanwhile.

    Both sides write before they read, and each of these is one atomic operation: the thread says whether the window is
    open and then looks for an interrupt, the other says that there is one and then looks at the window. So one of them
    always sees the other, and a call that is in time needs no lock here.
    """

    # Defaults of the class, not slots: making a window is a part of every call.
    is_open = False
    is_due = False
    """Whether it was interrupted; stays true."""
    is_owed = False
    """Whether an interrupt waits for the window to open."""
    calls = 0
    """How many calls inside of it a coroutine waits for; they are interrupted for themselves."""
    end = inf
    """When it will be interrupted (monotonic seconds)."""

    def __init__(self, lock: threading.RLock) -> None:
        self.lock = lock
        self.thread_id = get_ident()

    # For the thread itself

    def shut(self) -> bool:
        """Let no interrupt in; whether the window was open. One that is on its way waits for ``reopen()``."""
        was_open = self.is_open
        try:
            self.is_open = False
            if self.is_due:
                with self.lock:  # whoever interrupts has done so when we have it, and it strikes here
                    self._withdraw()
        except DeadlineInterrupt:
            self.is_owed = True
        return was_open

    def reopen(self) -> None:
        """Let interrupts in again. Raises DeadlineInterrupt if one waits."""
        self.is_open = True
        if self.is_owed:
            with self.lock:
                is_owed, self.is_owed = self.is_owed, False
            if is_owed:
                raise DeadlineInterrupt

    def close(self) -> None:
        """Let no interrupt in any more, and drop what is on its way.

        Raises DeadlineInterrupt if it strikes meanwhile; then none is left, and closing again is safe.
        """
        self.is_open = False
        if self.is_due:
            with self.lock:
                self._withdraw()

    def _withdraw(self) -> None:
        _schedule(self.thread_id, None)

    # For the one who watches

    def interrupt(self) -> None:
        """Raise DeadlineInterrupt in the thread, at once or when the window opens again. The caller holds the lock."""
        self.is_due = self.is_owed = True
        if self.is_open:
            self.is_owed = False
            _schedule(self.thread_id, DeadlineInterrupt)


class Seat:
    """A thread, and the window of the innermost call that runs on it."""

    window: Window | None = None

    def __init__(self) -> None:
        self.thread_id = get_ident()


class _Here(threading.local):
    def __init__(self) -> None:
        self.seat = Seat()


HERE = _Here()
"""Where this thread's seat is found."""


class Shielded:
    """Within the block the call that runs on this thread, if any, is not interrupted; at its end it may be.

    Leaving raises DeadlineInterrupt if an interrupt waited.
    """

    __slots__ = ("_was_open", "_window")

    def __enter__(self) -> None:
        self._window = HERE.seat.window
        self._was_open = self._window is not None and self._window.shut()

    def __exit__(self, *error: object) -> None:
        if self._window is not None and self._was_open:
            self._window.reopen()


def shielded_step(step: Callable[[], T]) -> T:
    """``step()`` of a coroutine, within which the call that runs on this thread is not interrupted.

    An interrupt that waits strikes when the module goes on: here it would leave the coroutine where it stands.
    """
    window = HERE.seat.window
    was_open = window is not None and window.shut()
    try:
        return step()
    finally:
        if window is not None and was_open:
            window.is_open = True


@contextmanager
def inside_call() -> Iterator[None]:
    """Within the block the coroutine that runs on this thread waits for a call inside of it, which has its own end.

    An interrupt would be raised where that call stands, and get lost there.
    """
    window = HERE.seat.window
    if window is None:
        yield
        return
    window.calls += 1
    try:
        yield
    finally:
        window.calls -= 1


def let_interrupt_in() -> None:
    """A call has ended, and the module that made it goes on. Raises DeadlineInterrupt if one waited for that."""
    window = HERE.seat.window
    if window is not None and window.is_owed and window.is_open:
        window.reopen()


@types.coroutine
def shielded(coroutine: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    """``await coroutine``, each step of which is shielded: what an async module calls is not its own code."""
    try:
        with inside_call():
            return (yield from _by_shielded_steps(coroutine))
    finally:
        let_interrupt_in()


def _by_shielded_steps(coroutine: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    step = partial(coroutine.send, None)
    while True:
        try:
            waiting = shielded_step(step)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # StopIteration is not generic
        try:
            answer = yield waiting
        except BaseException as raised:  # noqa: BLE001 - whatever it is, it is the coroutine's
            step = partial(coroutine.throw, raised)
        else:
            step = partial(coroutine.send, answer)


def _schedule(thread_id: int, exception: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread_id), ctypes.py_object(exception) if exception else None
    )
