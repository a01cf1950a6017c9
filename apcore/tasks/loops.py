"""Which event loop a task runs on: the submitter's, or one on a thread of its own for synchronous code."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable
from typing import Any


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs on this thread."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def on_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], /, *args: Any) -> None:
    """Call ``function`` on the thread of ``loop``: now if this is it, else soon. Raises RuntimeError if closed."""
    if running_loop() is loop:
        function(*args)
    else:
        loop.call_soon_threadsafe(function, *args)


class BackgroundLoop:
    """An event loop on a daemon thread, started when it is first needed, again after a fork or a stop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()

    def get(self) -> asyncio.AbstractEventLoop:
        """The loop, running."""
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop, self._end = asyncio.new_event_loop(), asyncio.Event()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop, self._end), name="apcore-tasks", daemon=True
                )
                self._thread.start()
                weakref.finalize(self, _stop, self._loop, self._end)
            return self._loop

    def stop(self) -> None:
        """End the loop and wait for its thread, unless this is it. What still runs there is cancelled."""
        with self._lock:
            thread, loop, self._thread, self._loop = self._thread, self._loop, None, None
        if thread is None or loop is None:
            return
        _stop(loop, self._end)
        if thread is not threading.current_thread():
            thread.join()


def _serve(loop: asyncio.AbstractEventLoop, end: asyncio.Event) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(_until(end))


async def _until(end: asyncio.Event) -> None:
    await end.wait()


def _stop(loop: asyncio.AbstractEventLoop, end: asyncio.Event) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(end.set)
