"""Cooperative cancellation (§12.7.5)."""

from __future__ import annotations

import asyncio

from apcore.errors import ExecutionCancelledError


class CancelToken:
    """A flag that a caller or a deadline sets and a long-running module checks (§12.7.5).

    A token made for a nested call is also cancelled when its ``parent`` is, never the other way round. Setting and
    reading are single attribute accesses, so the token needs no lock.
    """

    __slots__ = ("_parent", "_reason")

    def __init__(self, parent: CancelToken | None = None) -> None:
        self._parent = parent
        self._reason: str | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether cancellation was asked for."""
        return self.reason is not None

    @property
    def reason(self) -> str | None:
        """Why, or None while nobody asked."""
        if self._reason is None and self._parent is not None:
            return self._parent.reason
        return self._reason

    def cancel(self, reason: str = "cancelled by the caller") -> None:
        """Ask the running modules of this call to stop; the first reason stays."""
        if self._reason is None:
            self._reason = reason

    def renewed(self) -> CancelToken:
        """A token for another attempt of the same call: what cancelled this one alone is forgotten (§8.6)."""
        return CancelToken(self._parent)

    def check(self) -> None:
        """Raise ExecutionCancelledError once cancellation was asked for (EXECUTION_CANCELLED, §8.2)."""
        reason = self.reason
        if reason is not None:
            raise ExecutionCancelledError(f"Execution was cancelled: {reason}")


def pass_on_cancellation(error: BaseException) -> None:
    """Raise ``error`` again if it says that this task was cancelled from outside; of code that was called it is none.

    For those who catch whatever that code fails with.
    """
    if isinstance(error, asyncio.CancelledError) and is_cancelled_from_outside():
        raise error


def tells_to_stop(error: BaseException) -> bool:
    """Whether a worker is told to stop: its signal handler raises a kind of SystemExit, wherever the code just is.

    SystemExit itself is that code's own, from ``sys.exit()``.
    """
    return isinstance(error, SystemExit) and type(error) is not SystemExit


def is_cancelled_from_outside() -> bool:
    """Whether somebody cancelled this task; if not, a module awaited something cancelled, which is a plain failure."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False
    return task is None or task.cancelling() > 0
