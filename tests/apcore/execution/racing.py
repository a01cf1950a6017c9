"""What tests of races between calls and the watcher of deadlines need."""

from __future__ import annotations

import threading
import time

from apcore.execution.deadlines import Deadlines


class Watched:
    """A watcher that never sleeps, for as long as the block lasts."""

    def __init__(self, deadlines: Deadlines) -> None:
        self.deadlines, self.ended = deadlines, threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self) -> None:
        while not self.ended.is_set():
            self.deadlines.look()

    def __enter__(self) -> Deadlines:
        self.thread.start()
        return self.deadlines

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        self.thread.join()


def spin(seconds: float) -> None:
    """Work, without ever waiting in C."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(5))
