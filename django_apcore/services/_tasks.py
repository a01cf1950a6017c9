"""What the verbs about tasks share: find and lock one, and finish it."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apcore.context import Identity
from django_apcore.exceptions import TaskNotFound
from django_apcore.models import AsyncTask, Heartbeat
from django_apcore.services._announce import announce
from django_apcore.services._calls import LOST_AFTER
from django_apcore.services._database import alias, row_id
from django_apcore.services.audit import append
from django_apcore.signals import task_finished


def find_task(task_id: UUID | str) -> AsyncTask:
    """Read a task. Raises TaskNotFound."""
    return _found(AsyncTask.objects.using(alias()).filter(pk=row_id(task_id)).first(), task_id)


def lock_task(task_id: UUID | str) -> AsyncTask:
    """Read a task and lock its row until the transaction ends. Raises TaskNotFound."""
    rows = AsyncTask.objects.using(alias()).select_for_update()
    return _found(rows.filter(pk=row_id(task_id)).first(), task_id)


def is_lost(task: AsyncTask) -> bool:
    """Whether the worker that runs a task is gone: not heard of for minutes, or started anew since the task began."""
    if task.status != AsyncTask.Status.RUNNING or task.started_at is None or not task.worker:
        return False
    sign = Heartbeat.objects.using(alias()).filter(name=Heartbeat.name_of(task.worker)).first()
    heard_at = task.started_at if sign is None else max(sign.at, task.started_at)
    began = parse_datetime(str(sign.details.get("since", ""))) if sign is not None else None
    return heard_at < timezone.now() - LOST_AFTER or (began is not None and began > task.started_at)


def finish(task: AsyncTask, status: AsyncTask.Status, actor: User | Identity | None, **columns: Any) -> None:
    """Bring a locked task to its end, with an audit entry and a signal."""
    task.status = status
    task.finished_at = timezone.now()
    for name, value in columns.items():
        setattr(task, name, value)
    task.save(using=alias(), update_fields=["status", "finished_at", *columns])
    code = (task.error or {}).get("code")
    append(
        f"task.{status}",
        subject=task.subject,
        actor=actor,
        module_id=task.module_id,
        trace_id=task.trace_id,
        data={"code": code} if code else {},
    )
    announce(task_finished, AsyncTask, task=task)


def _found(task: AsyncTask | None, task_id: UUID | str) -> AsyncTask:
    if task is None:
        raise TaskNotFound("There is no such task.", details={"task_id": str(task_id)[:64]})
    return task
