"""One submitted call as data, and the only way from one of its states to the next (§5.8)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from apcore.context import Identity
from apcore.errors import ModuleError
from apcore.tasks.errors import TaskTransitionError
from apcore.tasks.states import TaskStatus, can_transition

FULL_PROGRESS = 100.0


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Task:
    """What is known about a submitted call at one moment (§5.8).

    ``progress`` is in percent, 0 to 100. ``result`` is the module's output once the task is completed; ``error`` is the
    error's wire form (§8.1) once it is failed or cancelled. ``attempts`` counts how often the module was called.
    """

    task_id: str
    module_id: str
    trace_id: str
    identity: Identity | None = None
    status: TaskStatus = TaskStatus.IDLE
    progress: float = 0.0
    message: str = ""
    result: Any = field(default=None, repr=False)
    error: Mapping[str, Any] | None = field(default=None, repr=False)
    attempts: int = 0
    cancel_requested: bool = False
    submitted_at: datetime = field(default_factory=_now)
    started_at: datetime | None = None
    finished_at: datetime | None = None

    @property
    def is_finished(self) -> bool:
        """Whether it is completed, failed or cancelled."""
        return self.status in _FINISHED

    def move(self, status: TaskStatus, **changes: Any) -> Task:
        """This task in another state. Raises TaskTransitionError for a transition that §5.8 does not list."""
        if not can_transition(self.status, status):
            raise TaskTransitionError(
                f"A task that is {self.status} cannot become {status}",
                details={"task_id": self.task_id, "from": str(self.status), "to": str(status)},
            )
        return replace(self, status=status, **changes)

    def submit(self) -> Task:
        """idle → pending."""
        return self.move(TaskStatus.PENDING)

    def begin(self) -> Task:
        """pending → running, for one more call of the module."""
        return self.move(TaskStatus.RUNNING, started_at=_now(), attempts=self.attempts + 1, progress=0.0, message="")

    def complete(self, result: Any) -> Task:
        """running → completed."""
        return self.move(TaskStatus.COMPLETED, result=result, progress=FULL_PROGRESS, finished_at=_now())

    def fail(self, error: ModuleError) -> Task:
        """running → failed."""
        return self.move(TaskStatus.FAILED, error=error.to_dict(), finished_at=_now())

    def cancel(self, error: ModuleError) -> Task:
        """→ cancelled; a task that waits passes through running without a call of the module (C-51)."""
        running = self.move(TaskStatus.RUNNING) if self.status is TaskStatus.PENDING else self
        return running.move(TaskStatus.CANCELLED, cancel_requested=True, error=error.to_dict(), finished_at=_now())

    def ask_to_cancel(self) -> Task:
        """With the wish that it ends, if it is running."""
        return replace(self, cancel_requested=True) if self.status is TaskStatus.RUNNING else self

    def retry(self) -> Task:
        """failed → pending, as if newly submitted."""
        return self.move(TaskStatus.PENDING, error=None, finished_at=None)

    def report(self, percent: float, message: str) -> Task:
        """With this progress, if it is running; ``percent`` is brought into 0 to 100."""
        if self.status is not TaskStatus.RUNNING:
            return self
        return replace(self, progress=min(FULL_PROGRESS, max(0.0, percent)), message=message)

    def to_dict(self) -> dict[str, Any]:
        """The answer of ``get_status`` as JSON-ready data (§5.8): ``result`` if completed, ``error`` if failed."""
        data: dict[str, Any] = {
            "task_id": self.task_id,
            "module_id": self.module_id,
            "status": str(self.status),
            "progress": self.progress,
        }
        if self.message:
            data["message"] = self.message
        if self.status is TaskStatus.COMPLETED:
            data["result"] = self.result
        if self.error is not None:
            data["error"] = dict(self.error)
        return data


_FINISHED = frozenset({TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED})


def percentage(done: float, total: float | None) -> float:
    """How many percent ``done`` of ``total`` is; without ``total``, ``done`` is the percentage. Always 0 to 100."""
    if total is None:
        percent = float(done)
    else:
        percent = FULL_PROGRESS * done / total if total > 0 else 0.0
    return 0.0 if math.isnan(percent) else min(FULL_PROGRESS, max(0.0, percent))
