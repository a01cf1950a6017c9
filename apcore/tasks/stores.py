"""Where tasks are kept: a port, and its implementation in memory (§5.8)."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from apcore.tasks.errors import TaskNotFoundError
from apcore.tasks.states import TaskStatus
from apcore.tasks.task import Task

TaskChange = Callable[[Task], Task]


@runtime_checkable
class TaskStore(Protocol):
    """Keeps tasks. Any thread may call it, from within an event loop too, so it should answer fast."""

    def add(self, task: Task) -> None:
        """Keep a new task."""
        ...

    def get(self, task_id: str) -> Task | None:
        """The task as it is now."""
        ...

    def list(self, status: TaskStatus | None = None) -> Sequence[Task]:
        """The tasks, or those in one state, oldest first."""
        ...

    def update(self, task_id: str, change: TaskChange) -> tuple[Task, Task]:
        """Replace a task by ``change(task)`` and return both, as one step that nothing comes between.

        ``change`` may be called again when somebody else was faster; it raises to refuse. Raises TaskNotFoundError.
        """
        ...

    def remove_finished(self, before: datetime) -> int:
        """Drop every task that finished before this time; how many there were."""
        ...


class MemoryTaskStore:
    """Tasks in this process, until it ends."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._lock = threading.Lock()

    def add(self, task: Task) -> None:
        """Keep a new task."""
        with self._lock:
            self._tasks[task.task_id] = task

    def get(self, task_id: str) -> Task | None:
        """The task as it is now."""
        return self._tasks.get(task_id)

    def list(self, status: TaskStatus | None = None) -> builtins.list[Task]:
        """The tasks, or those in one state, oldest first."""
        with self._lock:
            tasks = [*self._tasks.values()]
        return [task for task in tasks if status is None or task.status is status]

    def update(self, task_id: str, change: TaskChange) -> tuple[Task, Task]:
        """Replace a task by ``change(task)`` and return both. Raises TaskNotFoundError, and what ``change`` does."""
        with self._lock:
            before = self._tasks.get(task_id)
            if before is None:
                raise TaskNotFoundError(f"There is no task {task_id!r}", details={"task_id": task_id})
            after = self._tasks[task_id] = change(before)
            return before, after

    def remove_finished(self, before: datetime) -> int:
        """Drop every task that finished before this time; how many there were."""
        with self._lock:
            old = [
                task.task_id
                for task in self._tasks.values()
                if task.is_finished and task.finished_at is not None and task.finished_at < before
            ]
            for task_id in old:
                del self._tasks[task_id]
        return len(old)
