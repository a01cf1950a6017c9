"""Events of work that may yet be undone are kept until it is clear what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from apcore.events.core import outlives_undoing
from apcore.events.event import Event

_current: ContextVar[HeldEvents | None] = ContextVar("apcore_held_events", default=None)


class HeldEvents:
    """What was emitted inside of one ``hold_events()`` block, in order."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: list[tuple[Callable[[Event], None], Event]] = []

    def add(self, emit: Callable[[Event], None], event: Event) -> None:
        """Keep an event for later."""
        self._waiting.append((emit, event))

    def waiting_for(self, emit: Callable[[Event], None]) -> list[Event]:
        """What waits to be emitted by ``emit``, in order: for who has to write it down before the work is done."""
        return [event for each, event in self._waiting if each == emit]

    def release(self) -> None:
        """Emit everything: the work stays. Inside of another block it waits there."""
        self._emit(lambda event: True)

    def drop(self) -> None:
        """Forget everything: the work was undone. What tells of calls, approvals and health happened all the same."""
        self._emit(outlives_undoing)

    def _emit(self, is_true: Callable[[Event], bool]) -> None:
        waiting, self._waiting = self._waiting, []
        for emit, event in waiting:
            if is_true(event):
                emit(event)


def held_events() -> HeldEvents | None:
    """The innermost block that this code runs in."""
    return _current.get()


@contextmanager
def hold_events(held: HeldEvents | None = None) -> Iterator[HeldEvents]:
    """Keep what is emitted in this block (in ``held``); whoever opened it then calls ``release()`` or ``drop()``.

    For a transaction that may be rolled back, or a rehearsal that will be: subscribers must not hear of a change that
    nobody will ever find.
    """
    held, outer = HeldEvents() if held is None else held, _current.get()
    _current.set(held)
    try:
        yield held
    finally:
        _current.set(outer)  # not by its token: a stream may go on in a copy of the context that it began in
