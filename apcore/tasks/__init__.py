"""Long-running calls: their states and legal transitions (§5.8)."""

from apcore.tasks.states import TASK_TRANSITIONS, TaskStatus, can_transition

__all__ = ["TASK_TRANSITIONS", "TaskStatus", "can_transition"]
