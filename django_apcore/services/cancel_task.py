"""Cancel a task: at once while it waits, at its next check while it runs (§5.8)."""

from uuid import UUID

from django.contrib.auth.models import User

from apcore.context import Identity
from django_apcore.models import AsyncTask


def cancel_task(task_id: UUID | str, *, actor: User | None = None, identity: Identity | None = None) -> AsyncTask:
    """Ask for the end of a task. A finished task is returned as it is.

    Allowed to who submitted it, and to users with the permission to change tasks. Raises TaskNotFound, TaskForbidden.
    """
    raise NotImplementedError
