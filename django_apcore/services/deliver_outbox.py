"""Deliver: mail and task messages leave the outbox after the commit of the call that caused them."""

import logging
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from django_apcore.effects import send_again
from django_apcore.models import OutboxMessage
from django_apcore.services._broker import send
from django_apcore.services._database import alias, atomic
from django_apcore.signals import outbox_written

logger = logging.getLogger("django_apcore.outbox")

_LEASE = timedelta(minutes=5)
"""How long a delivery may take before another worker believes that it died."""
_SOONEST, _LATEST = timedelta(seconds=15), timedelta(hours=1)


def deliver_outbox(limit: int = 500) -> int:
    """Deliver what is due, oldest first, at most `limit` messages. Returns how many were delivered.

    Each message is delivered at least once, whatever dies meanwhile. One that fails is tried again later, and does not
    keep the others. Safe to run in several processes at once.
    """
    due = OutboxMessage.objects.using(alias()).filter(delivered_at=None, next_attempt_at__lte=timezone.now())
    keys = list(due.order_by("created_at", "position").values_list("pk", flat=True)[:limit])
    return sum(map(_deliver, keys))


def dispatch_outbox(**signal: Any) -> None:
    """Ask a worker to deliver. Where the broker is away, the next beat makes up for it."""
    send("apcore.deliver_outbox")


outbox_written.connect(dispatch_outbox, dispatch_uid="django_apcore.dispatch_outbox")


def _deliver(key: UUID) -> bool:
    message = _claim(key)
    if message is None:
        return False
    try:
        send_again(message)
    except Exception as error:  # noqa: BLE001 - a backend or a broker may raise anything, and other messages wait
        _postpone(message, error)
        return False
    with atomic():
        OutboxMessage.objects.using(alias()).filter(pk=key).update(delivered_at=timezone.now(), last_error="")
    return True


def _claim(key: UUID) -> OutboxMessage | None:
    """Take a message for as long as a delivery may last; None if somebody else has it, or delivered it.

    The lock is gone before anything is sent: a mail server that hangs must not keep a transaction open.
    """
    now = timezone.now()
    with atomic():
        waiting = OutboxMessage.objects.using(alias()).select_for_update(skip_locked=True)
        message = waiting.filter(pk=key, delivered_at=None, next_attempt_at__lte=now).first()
        if message is not None:
            message.attempts += 1
            message.next_attempt_at = now + _LEASE
            message.save(update_fields=["attempts", "next_attempt_at"])
        return message


def _postpone(message: OutboxMessage, error: Exception) -> None:
    """Try again later, and ever later. Only the kind of the error is kept: its text may quote the message."""
    kind = type(error).__name__
    delay = min(_SOONEST * 2 ** min(message.attempts - 1, 20), _LATEST)
    with atomic():
        OutboxMessage.objects.using(alias()).filter(pk=message.pk).update(
            last_error=kind, next_attempt_at=timezone.now() + delay
        )
    logger.warning("%s was not delivered (%s, attempt %d)", message, kind, message.attempts)
