"""Deliver: mail and task messages leave the outbox after the commit of the call that caused them."""

from typing import Any
from uuid import UUID

from django_apcore.effects import send_again
from django_apcore.models import OutboxMessage
from django_apcore.services._broker import send
from django_apcore.services._outbox import claim, due, postpone, settle
from django_apcore.signals import outbox_written


def deliver_outbox(limit: int = 500) -> int:
    """Deliver the mail and tasks that are due, oldest first, at most `limit`. Returns how many were delivered.

    Each message is delivered at least once, whatever dies meanwhile. One that fails is tried again later, and does not
    keep the others. Safe to run in several processes at once.
    """
    waiting = due(OutboxMessage.Kind.MAIL, OutboxMessage.Kind.TASK)
    return sum(map(_deliver, list(waiting.values_list("pk", flat=True)[:limit])))


def dispatch_outbox(**signal: Any) -> None:
    """Ask a worker to deliver. Where the broker is away, the next beat makes up for it."""
    send("apcore.deliver_outbox")


outbox_written.connect(dispatch_outbox, dispatch_uid="django_apcore.dispatch_outbox")


def _deliver(key: UUID) -> bool:
    message = claim(key)
    if message is None:
        return False
    try:
        send_again(message)
    except Exception as error:  # noqa: BLE001 - a backend or a broker may raise anything, and other messages wait
        postpone(message, type(error).__name__)
        return False
    settle(message)
    return True
