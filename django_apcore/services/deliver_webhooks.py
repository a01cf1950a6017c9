"""Deliver webhooks: events leave the outbox, signed, for addresses that may be reached."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apcore.events.core import EVENTS_DEAD_LETTER
from apcore.events.webhooks import DeliveryError, dead_letter, send_webhook, signed_body
from django_apcore.conf import get_settings
from django_apcore.exceptions import UndecryptableError
from django_apcore.models import OutboxMessage, WebhookSubscriber
from django_apcore.secrets import decrypt
from django_apcore.services._announce import announce_event
from django_apcore.services._broker import send
from django_apcore.services._database import alias, atomic
from django_apcore.services._outbox import abandon, claim, due, postpone, settle
from django_apcore.services.audit import append
from django_apcore.signals import webhooks_written


def deliver_webhooks(limit: int = 200) -> int:
    """Send the events that are due, oldest first, at most `limit`. Returns how many were delivered.

    Each is delivered at least once, with the same event ID every time. A receiver that fails is left alone for the
    rest of this round, so it holds up nobody else; after `WEBHOOK_ATTEMPTS` attempts an event is given up, with an
    event. Messages for a webhook that is switched off wait. Safe to run in several processes at once.
    """
    waiting = due(OutboxMessage.Kind.WEBHOOK).filter(subscriber__enabled=True)
    away: set[int] = set()
    delivered = 0
    for key, subscriber_id in list(waiting.values_list("pk", "subscriber_id")[:limit]):
        if subscriber_id in away:
            continue
        is_delivered = _deliver(key)
        delivered += is_delivered is True
        if is_delivered is False:
            away.add(subscriber_id)
    return delivered


def dispatch_webhooks(**signal: Any) -> None:
    """Ask a worker to send. Where the broker is away, the next beat makes up for it."""
    send("apcore.deliver_webhooks")


webhooks_written.connect(dispatch_webhooks, dispatch_uid="django_apcore.dispatch_webhooks")


def retry_delivery(message: OutboxMessage, *, actor: User | None) -> bool:
    """Try an event that was given up again, from the first attempt on, with an audit entry.

    Returns whether there was anything to try: not, if it was delivered or tried again meanwhile.
    """
    dead = OutboxMessage.objects.using(alias()).filter(pk=message.pk, kind=OutboxMessage.Kind.WEBHOOK)
    dead = dead.filter(delivered_at=None).exclude(abandoned_at=None)
    with atomic():
        if not dead.update(abandoned_at=None, attempts=0, next_attempt_at=timezone.now()):
            return False
        event_id = message.idempotency_key.partition(":")[0]
        append(
            "webhook.retried",
            subject=f"webhook:{message.subscriber_id}",
            actor=actor,
            data={"event_id": event_id, "type": message.subject, "last_error": message.last_error},
        )
        transaction.on_commit(dispatch_webhooks, using=alias(), robust=True)
    return True


def _deliver(key: UUID) -> bool | None:
    """Whether it was delivered; None if somebody else has it."""
    message = claim(key)
    if message is None or message.subscriber is None:
        return None
    try:
        _send(message, message.subscriber)
    except Exception as error:  # noqa: BLE001 - one message that cannot be sent must not keep the others
        known = error if isinstance(error, DeliveryError) else DeliveryError(f"cannot be sent ({type(error).__name__})")
        _note_failure(message, message.subscriber, known)
        return False
    with atomic():
        settle(message)
        _status(message).update(last_delivered_at=timezone.now(), failures=0, last_error="")
    return True


def _send(message: OutboxMessage, subscriber: WebhookSubscriber) -> None:
    settings = get_settings()
    try:
        payload, secret = decrypt(message.payload_encrypted), decrypt(subscriber.secret_encrypted)
    except UndecryptableError as error:
        raise DeliveryError("cannot be decrypted with the configured keys", permanent=True) from error
    request = signed_body(
        subscriber.url,
        secret,
        payload["body"].encode("utf-8", "replace"),
        event_id=payload["event_id"],
        event_type=payload["type"],
    )
    send_webhook(request, allow_private=settings.webhook_allow_private, timeout=settings.webhook_timeout_seconds)


def _note_failure(message: OutboxMessage, subscriber: WebhookSubscriber, error: DeliveryError) -> None:
    problem = str(error)
    with atomic():
        _status(message).update(last_failed_at=timezone.now(), failures=F("failures") + 1, last_error=problem[:200])
        if not error.permanent and message.attempts < get_settings().webhook_attempts:
            postpone(message, problem)
            return
        abandon(message, problem)
        if message.subject != EVENTS_DEAD_LETTER:
            event_id = message.idempotency_key.partition(":")[0]
            announce_event(dead_letter(event_id, message.subject, subscriber.name, message.attempts, problem))


def _status(message: OutboxMessage) -> Any:
    return WebhookSubscriber.objects.using(alias()).filter(deliveries=message)
