"""A store that tells subscribers of every state that a task comes into (§5.8, §9.16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final

from apcore.events import Event, EventEmitter, core_event
from apcore.events.core import (
    TASK_CANCELLED,
    TASK_COMPLETED,
    TASK_FAILED,
    TASK_RETRIED,
    TASK_STARTED,
    TASK_SUBMITTED,
)
from apcore.tasks.states import TaskStatus
from apcore.tasks.stores import TaskChange, TaskStore
from apcore.tasks.task import Task

_EVENT_OF: Final[Mapping[TaskStatus, str]] = MappingProxyType(
    {
        TaskStatus.PENDING: TASK_RETRIED,
        TaskStatus.RUNNING: TASK_STARTED,
        TaskStatus.COMPLETED: TASK_COMPLETED,
        TaskStatus.FAILED: TASK_FAILED,
        TaskStatus.CANCELLED: TASK_CANCELLED,
    }
)


class AnnouncingTaskStore:
    """Hands everything on to ``store``, and what changed a task's state to ``emitter`` afterwards."""

    def __init__(self, store: TaskStore, emitter: EventEmitter) -> None:
        self._store = store
        self._emitter = emitter

    def add(self, task: Task) -> None:
        """Keep a new task."""
        self._store.add(task)
        self._tell(TASK_SUBMITTED, task)

    def get(self, task_id: str) -> Task | None:
        """The task as it is now."""
        return self._store.get(task_id)

    def list(self, status: TaskStatus | None = None) -> Sequence[Task]:
        """The tasks, or those in one state, oldest first."""
        return self._store.list(status)

    def update(self, task_id: str, change: TaskChange) -> tuple[Task, Task]:
        """Replace a task by ``change(task)`` and return both. Raises TaskNotFoundError, and what ``change`` does."""
        before, after = self._store.update(task_id, change)
        if after.status is not before.status:
            self._tell(_EVENT_OF[after.status], after)
        return before, after

    def remove_finished(self, before: datetime) -> int:
        """Drop every task that finished before this time; how many there were."""
        return self._store.remove_finished(before)

    def _tell(self, name: str, task: Task) -> None:
        if self._emitter.has_subscribers:
            self._emitter.emit(task_event(name, task))


def task_event(name: str, task: Task) -> Event:
    """The event that a task came into its present state; of a failure it has the code and not the text (RFC 005)."""
    data: dict[str, object] = {"module_id": task.module_id, "task_id": task.task_id}
    if name == TASK_RETRIED:
        data["attempts"] = task.attempts
    if name == TASK_FAILED:
        data["error_code"] = (task.error or {}).get("code")
    return core_event(name, data, trace_id=task.trace_id)
