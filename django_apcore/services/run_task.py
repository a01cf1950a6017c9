"""Run: a worker takes a submitted task through the executor (§5.8)."""

from uuid import UUID

from django_apcore.models import AsyncTask


def run_task(task_id: UUID | str) -> AsyncTask:
    """Run a pending task and return it after that. A task that is not pending is returned as it is.

    Raises TaskNotFound.
    """
    raise NotImplementedError
