"""Long-running calls: submitted now, run in the background, asked about later (§5.8)."""

from apcore.tasks.errors import (
    TaskLimitExceededError,
    TaskManagerClosedError,
    TaskNotFoundError,
    TaskTransitionError,
)
from apcore.tasks.jobs import TaskCallback
from apcore.tasks.manager import AsyncTaskManager
from apcore.tasks.retries import NEVER_AGAIN, RetryPolicy
from apcore.tasks.states import TASK_TRANSITIONS, TaskStatus, can_transition
from apcore.tasks.stores import MemoryTaskStore, TaskChange, TaskStore
from apcore.tasks.task import Task

__all__ = [
    "NEVER_AGAIN",
    "TASK_TRANSITIONS",
    "AsyncTaskManager",
    "MemoryTaskStore",
    "RetryPolicy",
    "Task",
    "TaskCallback",
    "TaskChange",
    "TaskLimitExceededError",
    "TaskManagerClosedError",
    "TaskNotFoundError",
    "TaskStatus",
    "TaskStore",
    "TaskTransitionError",
    "can_transition",
]
