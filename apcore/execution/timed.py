"""Calls that the watcher of deadlines knows: when they are told to end, and how they are made to (§12.7.5)."""

from __future__ import annotations

import asyncio
import threading
import types
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from typing import Any, Final

from apcore.context import Context
from apcore.execution.windows import HERE, DeadlineInterrupt, Window

DEADLINE_PASSED: Final = "the deadline has passed"
"""The reason in the cancel token of a call whose time is over."""


class TimedCall(Window):
    """One call: when its token is set, and when it is interrupted."""

    warned = False
    shut_for_it: Window | None = None
    """The window of the call around this one, if this one has shut it."""

    def __init__(
        self, deadline: float, end: float, context: Context, function: Any, lock: threading.RLock, thread_id: int
    ) -> None:
        self.deadline = deadline
        self.end = end
        self.context = context
        self.function = function
        self.lock = lock
        self.thread_id = thread_id
        self.is_due = False

    def hand_back(self) -> None:
        """The call around this one goes on. Raises DeadlineInterrupt if one waited for that."""
        if self.shut_for_it is not None:
            self.shut_for_it.reopen()

    def warn(self) -> None:
        """The deadline has passed: ask the module to end."""
        self.warned = True
        if self.context.cancel_token is not None:
            self.context.cancel_token.cancel(DEADLINE_PASSED)


class TimedCoroutine(TimedCall):
    """A coroutine. Its window is open only while one of its own steps runs; where it awaits, it is cancelled."""

    cancellations = 0
    """How often its task was cancelled because of its deadline."""
    is_over = False

    def __init__(
        self, deadline: float, end: float, context: Context, function: Any, lock: threading.RLock, thread_id: int
    ) -> None:
        super().__init__(deadline, end, context, function, lock, thread_id)
        task = asyncio.current_task()
        assert task is not None  # whoever awaits is part of one
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._cancellations_before = task.cancelling()
        self._was_cancelled = False

    def warn(self) -> None:
        """Also cancel it where it awaits."""
        super().warn()
        self._on_its_loop(self._cancel)

    def interrupt(self) -> None:
        """In a step it strikes at once. Otherwise it waits for the next, which it makes come now."""
        super().interrupt()
        if self.is_owed:
            self.wake()

    def wake(self) -> None:
        """Cancel it where it awaits, so that it has a next step; one that waits for a call has it when that ends."""
        self._on_its_loop(self._wake)

    def _on_its_loop(self, act: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # its loop is closed, and it with it
            self._loop.call_soon_threadsafe(act)

    def _wake(self) -> None:
        if self.is_owed and not self.calls:
            self._cancel()

    def _cancel(self) -> None:
        if not self.is_over:
            self.cancellations += 1
            self._task.cancel()

    def finish(self) -> bool:
        """Take back what was cancelled because of the deadline; whether the task was cancelled by nobody else."""
        self.is_over = True
        for _ in range(self.cancellations):
            self._task.uncancel()
        return self._task.cancelling() <= self._cancellations_before

    def step(self, step: Callable[[], Any]) -> Any:
        """Run one step of the coroutine. Raises DeadlineInterrupt if it is interrupted there."""
        seat = HERE.seat
        outer, seat.window = seat.window, self
        try:
            try:
                self.is_open = True
                return step()
            finally:
                self.is_open = False
                if self.is_due:
                    self.close()
        except DeadlineInterrupt:
            self.close()
            raise
        finally:
            seat.window = outer

    def to_throw(self, raised: BaseException | None) -> BaseException | None:
        """What its next step raises where it awaits, if anything: first it is cancelled, and later interrupted."""
        if not self._was_cancelled:
            self._was_cancelled = isinstance(raised, asyncio.CancelledError)
        elif self.is_owed and not self.calls:
            with self.lock:
                self.is_owed = False
            return DeadlineInterrupt()
        return raised


@types.coroutine
def by_steps(coroutine: Any, entry: TimedCoroutine) -> Generator[Any, Any, Any]:
    """``await coroutine``, which an interrupt ends where it stands, in a step or between two."""
    step: Callable[[], Any] = partial(coroutine.send, None)
    while True:
        try:
            waiting = entry.step(step)
        except StopIteration as done:
            return done.value
        except DeadlineInterrupt as interrupt:
            if coroutine.cr_frame is None:
                raise
            step = partial(coroutine.throw, interrupt)  # it came between the step and its end
            continue
        if entry.is_owed and not entry.calls:
            entry.wake()
        try:
            answer = yield waiting
        except BaseException as raised:  # noqa: BLE001 - whatever it is, it is the coroutine's
            error = entry.to_throw(raised)
        else:
            error = entry.to_throw(None)
        step = partial(coroutine.send, answer) if error is None else partial(coroutine.throw, error)
