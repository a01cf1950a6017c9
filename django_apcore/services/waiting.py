"""Waiting: how much there is to decide, to run and to send, and for how long the oldest has waited."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, QuerySet
from django.utils import timezone

from django_apcore.models import ApprovalRequest, AsyncTask, OutboxMessage
from django_apcore.services._database import alias


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits for one thing. `seconds` is how long its oldest has waited, 0 if nothing waits."""

    name: str
    length: int
    seconds: float


def waiting() -> list[Queue]:
    """The queues as the database has them now: `decision`, `execution`, `worker`, `running`, `outbox`."""
    now = timezone.now()
    approvals = ApprovalRequest.objects.using(alias()).filter(expires_at__gt=now)
    tasks = AsyncTask.objects.using(alias())
    messages = OutboxMessage.objects.using(alias()).filter(delivered_at=None, abandoned_at=None)
    return [
        _queue("decision", approvals.filter(status=ApprovalRequest.Status.PENDING), "created_at", now),
        _queue("execution", approvals.filter(status=ApprovalRequest.Status.APPROVED), "decided_at", now),
        _queue("worker", tasks.filter(status=AsyncTask.Status.PENDING), "created_at", now),
        _queue("running", tasks.filter(status=AsyncTask.Status.RUNNING), "started_at", now),
        _queue("outbox", messages, "created_at", now),
    ]


def _queue(name: str, rows: QuerySet[Any], since: str, now: datetime) -> Queue:
    found = rows.order_by().aggregate(length=Count("pk"), oldest=Min(since))
    oldest = found["oldest"]
    return Queue(name, found["length"], 0.0 if oldest is None else max(0.0, (now - oldest).total_seconds()))
