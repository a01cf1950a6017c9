"""What the workers do. A task gets the ID of a row and leaves IDs, states and digests in the result backend."""

import logging
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from functools import wraps
from typing import Any, ParamSpec

from celery import shared_task
from celery.signals import worker_process_shutdown, worker_ready
from django.db import Error, connections

from apcore.errors.telling import places_of
from django_apcore import runtime, services

logger = logging.getLogger("django_apcore.workers")

P = ParamSpec("P")
Outcome = dict[str, Any]

_UNDER_WAY = timedelta(minutes=1)
"""How long a message may be on its way before beat sends another."""


class WorkerError(Exception):
    """What Celery keeps of an error: its kind. The text of the original may hold secrets; the log has where it was."""


def _without_secrets(run: Callable[P, Outcome]) -> Callable[P, Outcome]:
    @wraps(run)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> Outcome:
        try:
            return run(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - raised again below, where nothing of it is attached
            kind = f"{type(error).__name__} ({getattr(error, 'code', 'unexpected')})"
            logger.error("%s failed: %s%s", run.__name__, kind, places_of(error))
        raise WorkerError(kind)

    return guarded


@shared_task(name="apcore.execute_approved", acks_late=True, reject_on_worker_lost=True)
@_without_secrets
def execute_approved(request_id: str) -> Outcome:
    """Execute one approved request."""
    request = services.execute_approved(request_id)
    return {
        "approval_id": str(request.pk),
        "status": str(request.status),
        "effect_digest": request.effect_digest,
        "committed_digest": request.committed_digest,
    }


@shared_task(name="apcore.run_task", bind=True, acks_late=True, reject_on_worker_lost=True)
def run_task(self: Any, task_id: str) -> Outcome:
    """Run one submitted task."""
    return _run_task(task_id, self.request.id or "", self.request.hostname or "")


@_without_secrets
def _run_task(task_id: str, celery_id: str, worker: str) -> Outcome:
    task = services.run_task(task_id, celery_id=celery_id, worker=worker)
    return {"task_id": str(task.pk), "status": str(task.status)}


@shared_task(name="apcore.expire_approvals")
@_without_secrets
def expire_approvals() -> Outcome:
    """Expire what nobody decided, or nobody executed, in time."""
    return {"expired": services.expire_due()}


@shared_task(name="apcore.dispatch_approved")
@_without_secrets
def dispatch_approved() -> Outcome:
    """Send again what waits in the database and whose message was lost."""
    return {
        "approved": services.dispatch_approved(older_than=_UNDER_WAY),
        "submitted": services.dispatch_submitted(older_than=_UNDER_WAY),
    }


@shared_task(name="apcore.deliver_outbox")
@_without_secrets
def deliver_outbox() -> Outcome:
    """Deliver the mail and the tasks of committed calls."""
    return {"delivered": services.deliver_outbox()}


@shared_task(name="apcore.deliver_webhooks")
@_without_secrets
def deliver_webhooks() -> Outcome:
    """Send events to webhooks."""
    return {"delivered": services.deliver_webhooks()}


@shared_task(name="apcore.prune_usage")
@_without_secrets
def prune_usage() -> Outcome:
    """Merge usage by the hour into days, and drop what is too old. Long-lived processes do it by themselves."""
    return {"pruned": runtime.get().app.usage.prune()}


@shared_task(name="apcore.keep_records")
@_without_secrets
def keep_records() -> Outcome:
    """Remove and archive what the settings say is old enough; without such settings everything stays."""
    return asdict(services.keep_records())


@worker_ready.connect(dispatch_uid="django_apcore.recover")
def recover(**kwargs: Any) -> None:
    """When a worker starts, send everything that waits: the database knows it, whatever became of the messages."""
    try:
        approved, submitted = services.dispatch_approved(), services.dispatch_submitted()
        logger.info("Recovered: %d approved requests and %d tasks wait for a worker", approved, submitted)
    except Error as error:
        logger.error("Nothing was recovered, the database does not answer (%s)", type(error).__name__)
    finally:
        connections.close_all()


@worker_process_shutdown.connect(dispatch_uid="django_apcore.write_usage")
def write_usage(**kwargs: Any) -> None:
    """When a process of a worker's pool ends, which it does without `atexit`, write what it has counted."""
    runtime.stop()
