"""Does what has to be done get done: tasks, executions, decisions, messages, verification?"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from django_apcore.models import ApprovalRequest, AsyncTask, Heartbeat, OutboxMessage
from django_apcore.services._database import alias
from django_apcore.services.health.finding import Finding, Status

LATE = timedelta(minutes=2)
"""From when on something that waits for a worker is worth a warning."""
TOO_LATE = timedelta(minutes=15)
"""From when on it is an error."""
VERIFIED_EVERY = timedelta(days=7)


def queue() -> Finding:
    """How long the oldest task, or the oldest approved call, has been waiting for a worker."""
    tasks = AsyncTask.objects.using(alias()).filter(status=AsyncTask.Status.PENDING)
    calls = ApprovalRequest.objects.using(alias()).filter(
        Q(policy=None) | Q(policy__execute_on_approval=True),
        status=ApprovalRequest.Status.APPROVED,
        expires_at__gt=timezone.now(),
    )
    oldest = [
        *tasks.order_by("created_at").values_list("created_at", flat=True)[:1],
        *calls.order_by("decided_at").values_list("decided_at", flat=True)[:1],
    ]
    waiting = tasks.count() + calls.count()
    age = _age(min((each for each in oldest if each is not None), default=None))
    data = {"waiting": waiting, "oldest_seconds": round(age.total_seconds())}
    status = _by_age(age)
    if status == "ok":
        return Finding("queue", "ok", f"Nothing waits long for a worker ({waiting} waiting).", data)
    sentence = f"{waiting} calls wait for a worker, the oldest for {_spoken(age)}: start workers, or more of them."
    return Finding("queue", status, sentence, data)


def approvals() -> Finding:
    """Requests that should have expired and have not: nobody runs the schedule."""
    pending = ApprovalRequest.objects.using(alias()).filter(status=ApprovalRequest.Status.PENDING)
    overdue = pending.filter(expires_at__lt=timezone.now() - LATE).count()
    data = {"pending": pending.count(), "overdue": overdue}
    if overdue:
        sentence = f"{overdue} requests are past their limit and still pending: run celery beat, which expires them."
        return Finding("approvals", "warn", sentence, data)
    return Finding("approvals", "ok", f"No request is past its limit ({data['pending']} pending).", data)


def outbox() -> Finding:
    """Mail, tasks and webhooks that have not left, and those that were given up."""
    messages = OutboxMessage.objects.using(alias()).filter(delivered_at=None)
    late = messages.filter(abandoned_at=None, created_at__lt=timezone.now() - LATE)
    oldest = late.order_by("created_at").values_list("created_at", flat=True).first()
    age, given_up = _age(oldest), messages.exclude(abandoned_at=None).count()
    data = {"late": late.count(), "oldest_seconds": round(age.total_seconds()), "given_up": given_up}
    if data["late"]:
        sentence = (
            f"{data['late']} messages have not left, the oldest for {_spoken(age)}: run celery beat and a worker, and "
            "look at the last errors in the outbox."
        )
        return Finding("outbox", _by_age(age), sentence, data)
    if given_up:
        sentence = f"{given_up} messages were given up: look at their last errors in the outbox."
        return Finding("outbox", "warn", sentence, data)
    return Finding("outbox", "ok", "Mail, tasks and webhooks leave.", data)


def audit() -> Finding:
    """What the last verification of the audit trail found, and when that was."""
    row = Heartbeat.objects.using(alias()).filter(name=Heartbeat.AUDIT_VERIFIED).first()
    command = "manage.py apcore audit verify"
    if row is None:
        return Finding("audit", "warn", f"The audit trail was never verified here: run {command} every night.")
    data: dict[str, Any] = {"verified_at": row.at.isoformat(), **row.details}
    if not row.details.get("ok"):
        return Finding("audit", "error", f"The audit trail is broken: {command} names the first entry.", data)
    if _age(row.at) > VERIFIED_EVERY:
        sentence = f"The audit trail was verified {_spoken(_age(row.at))} ago: run {command} every night."
        return Finding("audit", "warn", sentence, data)
    return Finding("audit", "ok", "The audit trail was whole when it was last verified.", data)


def _age(since: datetime | None) -> timedelta:
    return timedelta(0) if since is None else timezone.now() - since


def _by_age(age: timedelta) -> Status:
    if age > TOO_LATE:
        return "error"
    return "warn" if age > LATE else "ok"


def _spoken(age: timedelta) -> str:
    seconds = age.total_seconds()
    for name, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {name}"
    return f"{seconds:.0f} seconds"
