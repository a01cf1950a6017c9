"""The state machine of asynchronous tasks (§5.8)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class TaskStatus(StrEnum):
    """The states that a task can be in (§5.8)."""

    IDLE = "idle"
    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


TASK_TRANSITIONS: Mapping[TaskStatus, frozenset[TaskStatus]] = MappingProxyType(
    {
        TaskStatus.IDLE: frozenset({TaskStatus.PENDING}),
        TaskStatus.PENDING: frozenset({TaskStatus.RUNNING}),
        TaskStatus.RUNNING: frozenset({TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED}),
        TaskStatus.COMPLETED: frozenset(),
        TaskStatus.FAILED: frozenset({TaskStatus.PENDING}),
        TaskStatus.CANCELLED: frozenset({TaskStatus.PENDING}),
    }
)
"""Every legal transition; whatever is not listed is forbidden (§5.8)."""


def can_transition(current: TaskStatus | str, target: TaskStatus | str) -> bool:
    """Whether a task may go from ``current`` to ``target`` (§5.8). Raises ValueError for an unknown state."""
    return TaskStatus(target) in TASK_TRANSITIONS[TaskStatus(current)]
