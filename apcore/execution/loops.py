"""An event loop for an async generator that sync code reads (§12.7.7)."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from asgiref.sync import SyncToAsync

logger = logging.getLogger("apcore.execution")

_SECONDS_TO_END = 5.0


class LoopThread:
    """One loop, in a thread of its own, from the first chunk of a stream to its end.

    What an async generator makes, a connection or a task, belongs to the loop it was made on, so all its chunks must be
    read on one. asgiref runs a coroutine on the loop that its thread is told of and meanwhile serves sync code that the
    coroutine calls, on that thread; so ORM code of the module stays in the caller's transaction.
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    @contextmanager
    def at_hand(self) -> Iterator[None]:
        """While this is open, async code that this thread runs to its end runs on this loop."""
        if running_parent_loop() is not None:
            yield  # a loop above waits for this thread, and serves as well
            return
        loop, _end = self._start()
        with parent_loop(loop):
            yield

    def close(self) -> None:
        """End the loop: tasks that are left are cancelled. Nothing happens if it never ran."""
        if self._thread is None:
            return
        loop, end = self._started.result()
        loop.call_soon_threadsafe(end.set)
        self._thread.join(_SECONDS_TO_END)
        if self._thread.is_alive():
            logger.error("A task that a stream left behind ignores its cancellation; its loop is abandoned")

    def _start(self) -> tuple[asyncio.AbstractEventLoop, asyncio.Event]:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="apcore-stream", daemon=True)
            self._thread.start()
        return self._started.result()

    def _run(self) -> None:
        asyncio.run(self._until_closed())

    async def _until_closed(self) -> None:
        end = asyncio.Event()
        self._started.set_result((asyncio.get_running_loop(), end))
        await end.wait()


def running_parent_loop() -> asyncio.AbstractEventLoop | None:
    """The loop on which asgiref would run async code for this thread, if that is running in this process."""
    loop: asyncio.AbstractEventLoop | None = getattr(SyncToAsync.threadlocal, "main_event_loop", None)
    is_ours = getattr(SyncToAsync.threadlocal, "main_event_loop_pid", None) == os.getpid()
    return loop if loop is not None and is_ours and loop.is_running() else None


@contextmanager
def parent_loop(loop: asyncio.AbstractEventLoop | None) -> Iterator[None]:
    """Tell asgiref that ``loop`` runs the async code of this thread; None leaves things as they are."""
    if loop is None:
        yield
        return
    local: Any = SyncToAsync.threadlocal
    before = getattr(local, "main_event_loop", None), getattr(local, "main_event_loop_pid", None)
    local.main_event_loop, local.main_event_loop_pid = loop, os.getpid()
    try:
        yield
    finally:
        local.main_event_loop, local.main_event_loop_pid = before
