"""What a process knows about a task that it has not finished, beyond the task itself."""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from apcore.context import CancelToken, Context
from apcore.errors import require
from apcore.tasks.loops import on_loop
from apcore.tasks.states import TaskStatus
from apcore.tasks.task import Task

logger = logging.getLogger("apcore.tasks")

TaskCallback = Callable[[Task], Awaitable[None] | None]


@dataclass(frozen=True, slots=True)
class TaskCallbacks:
    """Who is told what (§5.8). ``on_error`` hears of tasks that end without a result: failed or cancelled.

    Raises InvalidInputError for what cannot be called.
    """

    on_progress: TaskCallback | None = None
    on_complete: TaskCallback | None = None
    on_error: TaskCallback | None = None

    def __post_init__(self) -> None:
        for name in ("on_progress", "on_complete", "on_error"):
            require(name, getattr(self, name), Callable | None, "a function of the task")

    def of(self, task: Task) -> TaskCallback | None:
        """The one that hears of a task in this state."""
        if not task.is_finished:
            return self.on_progress
        return self.on_complete if task.status is TaskStatus.COMPLETED else self.on_error


class Job:
    """The call to make, where to make it, and who waits for it. ``done`` gets the finished task."""

    def __init__(
        self,
        task: Task,
        inputs: Mapping[str, Any],
        context: Context,
        loop: asyncio.AbstractEventLoop,
        callbacks: TaskCallbacks,
    ) -> None:
        self.task_id = task.task_id
        self.module_id = task.module_id
        self.loop = loop
        self.token = CancelToken()
        self.call: asyncio.Task[dict[str, Any]] | None = None
        self.steps: set[asyncio.Task[None]] = set()  # a loop itself holds its tasks weakly
        self.done: Future[Task] = Future()
        self.done.set_running_or_notify_cancel()  # whoever stops waiting for it does not end it
        self._inputs = inputs
        self.origin = context
        self._callbacks = callbacks
        self._answers: set[asyncio.Task[None]] = set()

    def inputs(self) -> Any:
        """The inputs for one attempt, which may change them."""
        return copy.deepcopy(self._inputs)

    def context(self, report: Callable[..., None]) -> Context:
        """The submitter's context for one attempt: its trace, chain and identity, but neither its deadline nor its
        cancel token, because the task outlives the call that submitted it."""
        given = self.origin
        context = Context(
            given.trace_id,
            given.caller_id,
            given.call_chain,
            identity=given.identity,
            data=dict(given.data),
            cancel_token=self.token,
            services={**(given.services or {}), "progress": report},
        )
        context.prepared_for = given.prepared_for
        return context

    def tell_soon(self, task: Task) -> None:
        """Call back from any thread."""
        if self._callbacks.of(task) is not None:
            try:
                on_loop(self.loop, self._tell, task)
            except RuntimeError:
                logger.warning("Nobody hears of task %s any more: its event loop is closed", self.task_id)

    async def tell(self, task: Task) -> None:
        """Call back, and wait until all who were called have answered."""
        self._tell(task)
        if self._answers:
            await asyncio.gather(*self._answers)

    def _tell(self, task: Task) -> None:
        callback = self._callbacks.of(task)
        if callback is None:
            return
        try:
            answer = callback(task)
        except Exception as error:  # noqa: BLE001 - the task is not to blame for those who watch it
            _log_failure(task, error)
            return
        if inspect.isawaitable(answer):
            waiting = self.loop.create_task(_heard(answer, task))
            self._answers.add(waiting)
            waiting.add_done_callback(self._answers.discard)


async def _heard(answer: Awaitable[None], task: Task) -> None:
    try:
        await answer
    except Exception as error:  # noqa: BLE001 - the task is not to blame for those who watch it
        _log_failure(task, error)


def _log_failure(task: Task, error: Exception) -> None:
    """Its type only: the text may hold secrets."""
    logger.error("A callback of task %s (%s) failed: %s", task.task_id, task.status, type(error).__name__)
