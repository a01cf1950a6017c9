"""Cancel a task: at once while it waits, at its next check while it runs (§5.8)."""

from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone

from apcore.context import Identity
from django_apcore.exceptions import TaskForbidden
from django_apcore.models import AsyncTask
from django_apcore.permissions import MANAGE_TASKS
from django_apcore.services._database import alias, atomic
from django_apcore.services._tasks import finish, lock_task

Status = AsyncTask.Status


def cancel_task(task_id: UUID | str, *, actor: User | None = None, identity: Identity | None = None) -> AsyncTask:
    """Ask for the end of a task. A finished task is returned as it is.

    A task that waits goes through `running` to `cancelled` without the module being called (C-51). Allowed to who
    submitted it, and to users with the permission to change tasks. Raises TaskNotFound, TaskForbidden.
    """
    with atomic():
        task = lock_task(task_id)
        _require_right(task, actor, identity)
        if task.status == Status.PENDING:
            task.started_at = timezone.now()
            finish(task, Status.CANCELLED, actor or identity, cancel_requested=True, started_at=task.started_at)
        elif task.status == Status.RUNNING and not task.cancel_requested:
            task.cancel_requested = True
            task.save(using=alias(), update_fields=["cancel_requested"])
    return task


def _require_right(task: AsyncTask, actor: User | None, identity: Identity | None) -> None:
    if identity is not None and task.is_from(identity):
        return
    if actor is not None and (task.requested_by_id == actor.pk or actor.has_perm(MANAGE_TASKS)):
        return
    raise TaskForbidden("Only who submitted this task can cancel it.", details={"task_id": str(task.pk)})
