"""Errors about tasks. The protocol has no codes for these, so they are ours."""

from __future__ import annotations

from apcore.errors import ModuleError


class TaskNotFoundError(ModuleError):
    """There is no task with this ID, or it finished so long ago that it was dropped."""

    code = "TASK_NOT_FOUND"
    http_status = 404
    retryable = False
    default_message = "Task not found"


class TaskTransitionError(ModuleError):
    """The state machine of §5.8 has no such transition."""

    code = "TASK_TRANSITION_FORBIDDEN"
    http_status = 409
    retryable = False
    default_message = "A task cannot change its state like this"


class TaskLimitExceededError(ModuleError):
    """As many tasks as are allowed wait or run; later there may be room."""

    code = "TASK_LIMIT_EXCEEDED"
    http_status = 429
    retryable = True
    default_message = "Too many tasks"


class TaskManagerClosedError(ModuleError):
    """The task manager was shut down and takes no more tasks."""

    code = "TASK_MANAGER_CLOSED"
    http_status = 503
    retryable = False
    default_message = "The task manager is shut down"
