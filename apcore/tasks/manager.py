"""Calls that are submitted now and run in the background of this process (§5.8)."""

from __future__ import annotations

import asyncio
import builtins
import copy
import logging
import threading
import uuid
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any, Self

from apcore.context import Context
from apcore.errors import (
    ExecutionCancelledError,
    InternalError,
    InvalidInputError,
    ModuleError,
    require,
    require_number,
)
from apcore.events import EventEmitter
from apcore.execution import Executor
from apcore.tasks.announcing import AnnouncingTaskStore
from apcore.tasks.attempts import Outcome, attempt
from apcore.tasks.errors import TaskLimitExceededError, TaskManagerClosedError, TaskNotFoundError
from apcore.tasks.jobs import Job, TaskCallback, TaskCallbacks
from apcore.tasks.loops import BackgroundLoop, on_loop, running_loop
from apcore.tasks.retries import RetryPolicy
from apcore.tasks.slots import Slots, spawn
from apcore.tasks.states import TaskStatus
from apcore.tasks.stores import MemoryTaskStore, TaskStore
from apcore.tasks.task import Task

logger = logging.getLogger("apcore.tasks")

_LONGEST_REAPING_PAUSE = 60.0


class AsyncTaskManager:
    """Runs submitted calls through the whole pipeline of ``executor``, in the background (§5.8).

    Everything may be called from any thread and from coroutines; nothing but the waiting waits. A task runs on the
    event loop that submits it, and ends with it; one that is submitted outside of any loop runs on a loop of the
    manager's own. Synchronous modules get a thread each.

    ``events`` is told of every state that a task comes into.

    ``max_tasks`` limits the tasks that wait or run, ``max_concurrent`` those that run. Finished ones are kept for
    ``keep_finished`` seconds. ``cancel_grace`` is how many seconds a coroutine may take to react to its cancel token
    before it is cancelled where it awaits; code in a thread is never cut off.

    Raises InvalidInputError for values out of range.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        store: TaskStore | None = None,
        max_tasks: int = 1000,
        max_concurrent: int = 10,
        retry: RetryPolicy | None = None,
        keep_finished: float = 3600.0,
        cancel_grace: float = 1.0,
        events: EventEmitter | None = None,
    ) -> None:
        require_number("AsyncTaskManager: max_tasks", max_tasks, 1, whole=True)
        require_number("AsyncTaskManager: max_concurrent", max_concurrent, 1, whole=True)
        require_number("AsyncTaskManager: keep_finished", keep_finished, 0)
        require_number("AsyncTaskManager: cancel_grace", cancel_grace, 0)
        self.executor = executor
        store = MemoryTaskStore() if store is None else store
        self._store = store if events is None else AnnouncingTaskStore(store, events)
        self._max_tasks = max_tasks
        self._retry = RetryPolicy() if retry is None else retry
        self._keep_finished = keep_finished
        self._cancel_grace = cancel_grace
        self._jobs: dict[str, Job] = {}
        self._slots = Slots(max_concurrent, self._run, self._lost)
        self._background = BackgroundLoop()
        self._lock = threading.Lock()
        self._closed = False
        self._next_reaping = monotonic()

    # Submitting and asking

    def submit(
        self,
        module_id: str,
        inputs: Mapping[str, Any] | None = None,
        context: Context | None = None,
        *,
        on_progress: TaskCallback | None = None,
        on_complete: TaskCallback | None = None,
        on_error: TaskCallback | None = None,
    ) -> Task:
        """Let a call run in the background; returned is the task, which has an ID and is pending (§5.8).

        The inputs are copied. Whatever is wrong with the call, an unknown module or a denied caller too, ends the task
        as failed. Callbacks get the Task, on its event loop; they may be coroutine functions, and their failures
        are logged. Raises TaskLimitExceededError, TaskManagerClosedError, and InvalidInputError for inputs that are
        no mapping or cannot be copied.
        """
        self._reap_now_and_then()
        context = Context.create() if context is None else context
        task = Task(uuid.uuid4().hex, module_id, context.trace_id, context.identity).submit()
        callbacks = TaskCallbacks(on_progress, on_complete, on_error)
        loop = running_loop() or self._background.get()
        job = Job(task, _own(inputs), context, loop, callbacks)
        with self._lock:
            self._require_room()
            self._store.add(task)
            self._jobs[task.task_id] = job
        self._slots.put(job)
        return task

    # Where an ID is asked for, the task that submit() returned does as well.

    def get_status(self, task_id: str | Task) -> Task:
        """The task as it is now: status, progress, result, error (§5.8). Raises TaskNotFoundError."""
        task_id = _id_of(task_id)
        task = self._store.get(task_id)
        if task is None:
            raise TaskNotFoundError(f"There is no task {task_id!r}", details={"task_id": task_id})
        return task

    def list(self, status: TaskStatus | str | None = None) -> builtins.list[Task]:
        """The tasks, or those in one state, oldest first. Raises ValueError for an unknown state."""
        return [*self._store.list(None if status is None else TaskStatus(status))]

    def cancel(self, task_id: str | Task) -> bool:
        """Ask for the end of a task; false if it has finished already (§5.8). Raises TaskNotFoundError.

        A task that waits is cancelled at once, and its module never called (C-51). One that runs has its cancel token
        set, and is cancelled when the module gives up; a module that finishes all the same has completed.
        """
        task_id = _id_of(task_id)
        before, task = self._store.update(task_id, _asked_to_end)
        if before.is_finished:
            return False
        job = self._jobs.get(task_id)
        if job is not None:
            job.token.cancel()
            try:
                on_loop(job.loop, self._conclude_soon if task.is_finished else self._insist_later, job, task)
            except RuntimeError:
                self._lost(job)
        return True

    # Waiting

    def wait(self, task_id: str | Task, timeout: float | None = None) -> Task:
        """Wait until a task has finished and its callbacks have returned, at most ``timeout`` seconds.

        Raises TaskNotFoundError, TimeoutError, InternalError for a task that nobody here will finish, because its store
        failed or it belongs to another manager, and InvalidInputError on the thread of an event loop, which would wait
        for itself: use ``wait_async`` there.
        """
        _refuse_to_block_a_loop("wait_async")
        task_id = _id_of(task_id)
        job = self._unfinished(task_id)
        return self._finished(task_id) if job is None else job.done.result(timeout)

    async def wait_async(self, task_id: str | Task, timeout: float | None = None) -> Task:  # noqa: ASYNC109 - as in wait()
        """Like ``wait``, from a coroutine, which may run on another loop than the task."""
        task_id = _id_of(task_id)
        job = self._unfinished(task_id)
        if job is None:
            return self._finished(task_id)
        async with asyncio.timeout(timeout):
            return await asyncio.wrap_future(job.done)

    def shutdown(self, *, cancel: bool = False, timeout: float | None = None) -> None:
        """Take no more tasks and wait until all have finished, or cancel them first.

        Raises TimeoutError after ``timeout`` seconds, and may then be called again. Raises InvalidInputError on the
        thread of an event loop: use ``shutdown_async`` there.
        """
        _refuse_to_block_a_loop("shutdown_async")
        deadline = None if timeout is None else monotonic() + timeout
        for job in self._close(cancel):
            job.done.result(None if deadline is None else max(0.0, deadline - monotonic()))
        self._background.stop()

    async def shutdown_async(self, *, cancel: bool = False, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as shutdown()
        """Like ``shutdown``, from a coroutine."""
        async with asyncio.timeout(timeout):
            for job in self._close(cancel):
                await asyncio.wrap_future(job.done)
        self._background.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.shutdown(cancel=kind is not None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        await self.shutdown_async(cancel=kind is not None)

    # Keeping house

    def reap(self, older_than: float | None = None) -> int:
        """Drop tasks that finished more than so many seconds ago, ``keep_finished`` by default; how many there were.

        ``submit`` does this now and then by itself.
        """
        age = self._keep_finished if older_than is None else older_than
        return self._store.remove_finished(datetime.now(UTC) - timedelta(seconds=age))

    def _reap_now_and_then(self) -> None:
        now = monotonic()
        if now >= self._next_reaping:
            self._next_reaping = now + min(_LONGEST_REAPING_PAUSE, self._keep_finished)
            self.reap()

    def _require_room(self) -> None:
        if self._closed:
            raise TaskManagerClosedError
        if len(self._jobs) < self._max_tasks:
            return
        # A status that says "completed" means that there is room, even if the callbacks have not returned yet.
        if sum(self._is_unfinished(job) for job in self._survivors()) >= self._max_tasks:
            raise TaskLimitExceededError(
                f"{self._max_tasks} tasks wait or run already", details={"max_tasks": self._max_tasks}
            )

    def _close(self, cancel: bool) -> builtins.list[Job]:
        with self._lock:
            self._closed = True
        jobs = self._survivors()
        for job in jobs if cancel else ():
            with suppress(TaskNotFoundError):  # it ended meanwhile, and was reaped
                self.cancel(job.task_id)
        return jobs

    def _is_unfinished(self, job: Job) -> bool:
        task = self._store.get(job.task_id)
        return task is not None and not task.is_finished

    def _survivors(self) -> builtins.list[Job]:
        jobs = [*self._jobs.values()]
        for job in jobs:
            if job.loop.is_closed():
                self._lost(job)
        return [job for job in jobs if not job.loop.is_closed()]

    def _unfinished(self, task_id: str) -> Job | None:
        job = self._jobs.get(task_id)
        if job is not None and job.loop.is_closed():
            self._lost(job)
        return job

    def _finished(self, task_id: str) -> Task:
        task = self.get_status(task_id)
        if not task.is_finished:
            raise InternalError(f"Nobody here runs task {task_id!r}, so there is nothing to wait for")
        return task

    # The life of one task, on its loop

    async def _run(self, job: Job) -> None:
        before, task = self._store.update(job.task_id, _begun)
        if before.status is not TaskStatus.PENDING:
            return  # it was cancelled while it waited
        outcome = await attempt(self.executor, job, partial(self._report, job, task.attempts))
        may_repeat = isinstance(outcome, ModuleError) and self._may_repeat(job, outcome, task.attempts)
        _, task = self._store.update(job.task_id, lambda task: _ended(task, outcome, may_repeat))
        if task.is_finished:
            await self._conclude(job, task)
        else:
            spawn(job, self._try_again(job, task.attempts), lambda step: self._lost(job) if step.cancelled() else None)

    def _may_repeat(self, job: Job, error: ModuleError, attempts: int) -> bool:
        definition = self.executor.registry.get_loaded(job.module_id)
        return definition is not None and self._retry.allows(error, definition.annotations, attempts)

    async def _try_again(self, job: Job, attempts: int) -> None:
        await asyncio.sleep(self._retry.delay(attempts))
        self._slots.put(job)

    async def _conclude(self, job: Job, task: Task) -> None:
        await job.tell(task)
        self._settle(job, task)

    def _conclude_soon(self, job: Job, task: Task) -> None:
        spawn(job, self._conclude(job, task), lambda step: self._lost(job))

    def _settle(self, job: Job, task: Task) -> None:
        if self._jobs.pop(job.task_id, None) is not None:
            job.done.set_result(task)

    def _lost(self, job: Job) -> None:
        """Whatever prevented this job from coming to its end, whoever waits for it must not wait for ever."""
        if job.task_id not in self._jobs:
            return
        try:
            _, task = self._store.update(job.task_id, _cut_short)
            self._settle(job, task)
        except Exception as error:
            logger.exception("Task %s is lost", job.task_id)
            if self._jobs.pop(job.task_id, None) is not None:
                job.done.set_exception(InternalError("The task store failed", cause=error))

    def _report(self, job: Job, number: int, percent: float, message: str) -> None:
        """An attempt that was given up and still runs in its thread has nothing to say about the next one."""
        if job.task_id not in self._jobs:
            return
        before, task = self._store.update(
            job.task_id, lambda task: task.report(percent, message) if task.attempts == number else task
        )
        if task is not before:
            job.tell_soon(task)

    def _insist_later(self, job: Job, task: Task) -> None:
        """Threads cannot be cut off, and a coroutine that heeds its token is better left to end in good order."""
        definition = self.executor.registry.get_loaded(task.module_id)
        if definition is not None and definition.is_async:
            job.loop.call_later(self._cancel_grace, _insist, job)


def _own(inputs: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy, so that the submitter may change its own."""
    if inputs is None:
        return {}
    require("The inputs of a task", inputs, Mapping, "an object with named values")
    try:
        return copy.deepcopy(dict(inputs))
    except Exception as error:
        raise InvalidInputError(f"The inputs of a task must be data that can be copied: {error}") from error


def _asked_to_end(task: Task) -> Task:
    if task.status is TaskStatus.PENDING:
        return task.cancel(ExecutionCancelledError("Cancelled before it started", module_id=task.module_id))
    return task.ask_to_cancel()


def _begun(task: Task) -> Task:
    return task.begin() if task.status is TaskStatus.PENDING else task


def _ended(task: Task, outcome: Outcome, may_repeat: bool) -> Task:
    if not isinstance(outcome, ModuleError):
        return task.complete(outcome)
    if task.cancel_requested or isinstance(outcome, ExecutionCancelledError):
        return task.cancel(outcome)
    failed = task.fail(outcome)
    return failed.retry() if may_repeat else failed


def _cut_short(task: Task) -> Task:
    if task.is_finished:
        return task
    return task.cancel(ExecutionCancelledError("What ran the task ended", module_id=task.module_id))


def _insist(job: Job) -> None:
    if job.call is not None:
        job.call.cancel()


def _id_of(task: str | Task) -> str:
    return task.task_id if isinstance(task, Task) else task


def _refuse_to_block_a_loop(instead: str) -> None:
    if running_loop() is not None:
        raise InvalidInputError(f"This would block the event loop that it waits for; await {instead}() instead")
