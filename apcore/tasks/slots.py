"""How many jobs run at a time, and which is next."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context as Variables
from functools import partial
from typing import Any

from apcore.tasks.jobs import Job
from apcore.tasks.loops import on_loop

logger = logging.getLogger("apcore.tasks")


class Slots:
    """Starts ``run(job)`` on the job's loop, first come first served, at most ``limit`` at a time over all loops.

    ``lost(job)`` hears of jobs that cannot run to their end because their event loop ended.
    """

    def __init__(
        self, limit: int, run: Callable[[Job], Coroutine[Any, Any, None]], lost: Callable[[Job], None]
    ) -> None:
        self._limit = limit
        self._run = run
        self._lost = lost
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._running: set[Job] = set()

    def put(self, job: Job) -> None:
        """Let a job run as soon as it is its turn."""
        with self._lock:
            self._waiting.append(job)
            stranded = [each for each in self._running if each.loop.is_closed()]
        for each in stranded:
            self._lose(each)
        self._fill()

    def _fill(self) -> None:
        while (job := self._next()) is not None:
            try:
                on_loop(job.loop, self._start, job)
            except RuntimeError:
                self._lose(job)

    def _next(self) -> Job | None:
        with self._lock:
            if not self._waiting or len(self._running) >= self._limit:
                return None
            job = self._waiting.popleft()
            self._running.add(job)
            return job

    def _start(self, job: Job) -> None:
        spawn(job, self._run(job), partial(self._leave, job))

    def _leave(self, job: Job, run: asyncio.Task[None]) -> None:
        if run.cancelled():
            self._lose(job)
        elif run.exception() is not None:
            self._lost(job)
        with self._lock:
            self._running.discard(job)
        self._fill()

    def _lose(self, job: Job) -> None:
        """A loop that cancels what runs on it is about to close: nothing else can start there either."""
        with self._lock:
            self._running.discard(job)
            others = [each for each in self._waiting if each.loop is job.loop]
            self._waiting = deque(each for each in self._waiting if each.loop is not job.loop)
        for each in (job, *others):
            self._lost(each)


def spawn(job: Job, step: Coroutine[Any, Any, None], then: Callable[[asyncio.Task[None]], None]) -> None:
    """Run a step of a job on its loop, which is this thread's, and call ``then`` with it when it is over.

    It starts without the submitter's context variables, as it would in another process: the task outlives what they
    refer to, a request or the thread that serves it.
    """
    task = job.loop.create_task(step, context=Variables())
    job.steps.add(task)
    task.add_done_callback(partial(_stepped, job, then))


def _stepped(job: Job, then: Callable[[asyncio.Task[None]], None], step: asyncio.Task[None]) -> None:
    job.steps.discard(step)
    failure = None if step.cancelled() else step.exception()
    if failure is not None:
        logger.error("Task %s could not be carried on", job.task_id, exc_info=failure)
    then(step)
