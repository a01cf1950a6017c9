"""Delivery that nobody waits for: a queue and a thread for each slow subscriber."""

from __future__ import annotations

import logging
import os
import queue
import threading
import weakref
from collections.abc import Callable
from time import monotonic

from apcore.events.event import Event

logger = logging.getLogger("apcore.events")

_IDLE_SECONDS = 5.0
_SECONDS_AT_EXIT = 2.0


class BackgroundDelivery:
    """Delivers one event after the other in a thread, which ends when there is nothing to do.

    At most ``size`` events wait; what comes then is dropped, counted in ``dropped`` and logged. A forked process starts
    with an empty queue: what waits belongs to its parent.
    """

    def __init__(self, deliver: Callable[[Event], None], name: str, size: int) -> None:
        self.dropped = 0
        self._deliver = deliver
        self._name = name
        self._size = size
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._queue: queue.Queue[Event] = queue.Queue(self._size)
        self._thread: threading.Thread | None = None
        weakref.finalize(self, _drained, self._queue, _SECONDS_AT_EXIT)

    def put(self, event: Event) -> None:
        """Let an event be delivered soon."""
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            try:
                self._queue.put_nowait(event)
            except queue.Full:
                self.dropped += 1
                logger.warning("%s is behind: '%s' was dropped (%d in all)", self._name, event.type, self.dropped)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=f"apcore-events-{self._name}", daemon=True)
                self._thread.start()

    def flush(self, timeout: float) -> bool:
        """Wait until everything was delivered, at most ``timeout`` seconds; whether it was."""
        return self._process != os.getpid() or _drained(self._queue, timeout)

    def _work(self) -> None:
        while True:
            try:
                event = self._queue.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._queue.empty():
                        self._thread = None
                        return
                continue
            try:
                self._deliver(event)
            finally:
                self._queue.task_done()


def flush_all(deliveries: list[BackgroundDelivery], timeout: float) -> bool:
    """Wait for all of them, at most ``timeout`` seconds together."""
    end = monotonic() + timeout
    return all(delivery.flush(max(0.0, end - monotonic())) for delivery in deliveries)


def _drained(waiting: queue.Queue[Event], timeout: float) -> bool:
    with waiting.all_tasks_done:
        return waiting.all_tasks_done.wait_for(lambda: not waiting.unfinished_tasks, timeout)
