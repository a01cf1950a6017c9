"""Run: a worker takes a submitted task through the executor (§5.8)."""

import logging
from uuid import UUID

from django.utils import timezone

from apcore.errors import ErrorCodes, ExecutionCancelledError, InternalError, ModuleError
from django_apcore.models import AsyncTask
from django_apcore.secrets import encrypt
from django_apcore.services._announce import announce
from django_apcore.services._calls import (
    WORKERS_TO_LOSE,
    StoredInputs,
    executor,
    known_definition,
    redacted,
    require_open_account,
    restored_context,
    secrets_of_stored,
)
from django_apcore.services._database import alias, atomic
from django_apcore.services._tasks import find_task, finish, is_lost, lock_task
from django_apcore.services._watch import ProgressWriter, TaskCancelToken
from django_apcore.signals import task_started

logger = logging.getLogger("django_apcore.tasks")

Status = AsyncTask.Status


def run_task(task_id: UUID | str, *, celery_id: str = "", worker: str = "") -> AsyncTask:
    """Run a pending task and return it after that. A task that is not pending is returned as it is.

    `celery_id` names the message, `worker` who runs it. If the message of a running task comes again, or another one
    while its worker is not heard of any more, that worker was lost: a module that is safe to repeat (read-only or
    idempotent) runs again, until it has taken several workers with it; any other task fails. Raises TaskNotFound.
    """
    if not _start(task_id, celery_id, worker):
        return find_task(task_id)
    task = find_task(task_id)
    try:
        result = _call(task)
    except ExecutionCancelledError as error:
        return _end(task_id, Status.CANCELLED, error)
    except ModuleError as error:
        return _end(task_id, Status.FAILED, error)
    except Exception as error:
        _end(task_id, Status.FAILED, InternalError(f"The worker failed: {type(error).__name__}"))
        raise
    with atomic():
        task = lock_task(task_id)
        if task.status == Status.RUNNING:
            schema = executor().registry.get_definition(task.module_id).output_schema
            shown = secrets_of_stored(task).hide(redacted(result, schema))
            finish(task, Status.COMPLETED, None, result_encrypted=encrypt(result), result_redacted=shown)
    return task


def _start(task_id: UUID | str, celery_id: str, worker: str) -> bool:
    """Whether this worker is the one that runs the task."""
    with atomic():
        task = lock_task(task_id)
        is_again = bool(celery_id) and task.celery_id == celery_id
        if task.status == Status.RUNNING and (is_again or is_lost(task)):
            is_mine = _take_over(task)
        else:
            is_mine = task.status == Status.PENDING
        if not is_mine:
            return False
        is_first = task.status == Status.PENDING
        task.status = Status.RUNNING
        task.started_at = timezone.now()
        task.celery_id, task.worker = celery_id, worker[:255]
        task.save(using=alias(), update_fields=["status", "started_at", "celery_id", "worker", "workers_lost"])
        if is_first:
            announce(task_started, AsyncTask, task=task)
        return True


def _take_over(task: AsyncTask) -> bool:
    task.workers_lost += 1
    known = known_definition(task.module_id)
    is_repeatable = known is not None and (known.annotations.readonly or known.annotations.idempotent)
    if is_repeatable and task.workers_lost < WORKERS_TO_LOSE:
        logger.warning("Task %s runs again: its worker was lost", task.pk)
        return True
    message = (
        f"{task.workers_lost} workers were lost while they ran this task, so it does not run again."
        if is_repeatable
        else "The worker was lost while the task ran. It is not known how far it came, so it does not run again."
    )
    error = ModuleError(message, code="TASK_WORKER_LOST", retryable=False)
    finish(task, Status.FAILED, None, error=error.to_dict(), workers_lost=task.workers_lost)
    return False


def _call(task: AsyncTask) -> dict[str, object]:
    context = restored_context(task.context_json)
    context.cancel_token = token = TaskCancelToken(task.pk)
    context.services = {"progress": ProgressWriter(task.pk)}
    token.check()
    require_open_account(task)
    inputs = StoredInputs.from_encrypted(task.inputs_encrypted)
    return executor().call(task.module_id, inputs.sent, context)


def _end(task_id: UUID | str, status: AsyncTask.Status, error: ModuleError) -> AsyncTask:
    with atomic():
        task = lock_task(task_id)
        if task.status == Status.RUNNING:
            finish(task, status, None, error=secrets_of_stored(task).hide(redacted(error.to_dict())))
    if error.code == ErrorCodes.GENERAL_INTERNAL_ERROR:
        logger.error("Task %s: %s", task.pk, error.message)
    return task
