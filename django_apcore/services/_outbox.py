"""Taking messages from the outbox: one at a time, each by one worker, again later if it fails."""

import logging
from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from django_apcore.models import OutboxMessage
from django_apcore.services._database import alias, atomic

logger = logging.getLogger("django_apcore.outbox")

_LEASE = timedelta(minutes=5)
"""How long a delivery may take before another worker believes that it died."""
_SOONEST, _LATEST = timedelta(seconds=15), timedelta(hours=1)


def due(*kinds: OutboxMessage.Kind) -> QuerySet[OutboxMessage]:
    """What waits and may be tried now, oldest first."""
    waiting = OutboxMessage.objects.using(alias()).filter(kind__in=kinds, delivered_at=None, abandoned_at=None)
    return waiting.filter(next_attempt_at__lte=timezone.now()).order_by("created_at", "position")


def claim(key: UUID) -> OutboxMessage | None:
    """Take a message for as long as a delivery may last; None if somebody else has it, or delivered it.

    The lock is gone before anything is sent: a server that hangs must not keep a transaction open.
    """
    now = timezone.now()
    with atomic():
        waiting = OutboxMessage.objects.using(alias()).select_for_update(skip_locked=True)
        message = waiting.filter(pk=key, delivered_at=None, abandoned_at=None, next_attempt_at__lte=now).first()
        if message is not None:
            message.attempts += 1
            message.next_attempt_at = now + _LEASE
            message.save(update_fields=["attempts", "next_attempt_at"])
        return message


def settle(message: OutboxMessage) -> None:
    """The message was delivered."""
    _row(message).update(delivered_at=timezone.now(), last_error="")


def postpone(message: OutboxMessage, problem: str) -> None:
    """Try again later, and ever later. `problem` names the kind of the error; its text may quote the message."""
    delay = min(_SOONEST * 2 ** min(message.attempts - 1, 20), _LATEST)
    _row(message).update(last_error=problem, next_attempt_at=timezone.now() + delay)
    logger.warning("%s was not delivered (%s, attempt %d)", message, problem, message.attempts)


def abandon(message: OutboxMessage, problem: str) -> None:
    """Try no more: a dead letter."""
    _row(message).update(last_error=problem, abandoned_at=timezone.now())
    logger.error("%s is given up (%s, attempt %d)", message, problem, message.attempts)


def _row(message: OutboxMessage) -> QuerySet[OutboxMessage]:
    return OutboxMessage.objects.using(alias()).filter(pk=message.pk)
