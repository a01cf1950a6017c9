"""Events for webhooks: rows of the outbox, written in the transaction that the event belongs to."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial

from django.db import transaction

from apcore.events import SEVERITIES, Event
from apcore.events.webhooks import is_dead_letter_about
from apcore.ids import match_pattern
from django_apcore.models import OutboxMessage, WebhookSubscriber
from django_apcore.secrets import encrypt
from django_apcore.services._calls import redacted
from django_apcore.services._database import alias, atomic
from django_apcore.signals import webhooks_written

_SUBJECT_LENGTH = 200

_stored: ContextVar[frozenset[str]] = ContextVar("django_apcore_stored_events", default=frozenset())


@contextmanager
def has_stored(events: Sequence[Event]) -> Iterator[None]:
    """Say that the deliveries of these events are stored already: `store_deliveries` does it once only."""
    token = _stored.set(_stored.get() | {event.event_id for event in events})
    try:
        yield
    finally:
        _stored.reset(token)


def store_deliveries(events: Sequence[Event]) -> int:
    """Write one message for each webhook that wants to hear of an event. Returns how many there are.

    It joins the caller's transaction: nothing is sent for work that is rolled back. Sensitive values are replaced.
    """
    news = [event for event in events if event.event_id not in _stored.get()]
    if not news:
        return 0
    subscribers = list(WebhookSubscriber.objects.using(alias()).filter(enabled=True))
    messages = [_message(event, each) for event in news for each in subscribers if _wants(each, event)]
    if messages:
        with atomic():
            OutboxMessage.objects.using(alias()).bulk_create(messages, ignore_conflicts=True)
            send = partial(webhooks_written.send_robust, sender=OutboxMessage)
            transaction.on_commit(send, using=alias(), robust=True)
    return len(messages)


def _wants(subscriber: WebhookSubscriber, event: Event) -> bool:
    return (
        SEVERITIES.index(event.severity) >= SEVERITIES.index(subscriber.min_severity)
        and any(match_pattern(pattern, event.type) for pattern in subscriber.types)
        and (not subscriber.modules or any(match_pattern(each, event.module_id or "") for each in subscriber.modules))
        and not is_dead_letter_about(event, subscriber.name)
    )


def _message(event: Event, subscriber: WebhookSubscriber) -> OutboxMessage:
    shown = replace(event, data=redacted(dict(event.data)))
    return OutboxMessage(
        kind=OutboxMessage.Kind.WEBHOOK,
        payload_encrypted=encrypt({"event_id": event.event_id, "type": event.type, "body": shown.to_json()}),
        idempotency_key=f"{event.event_id}:{subscriber.pk}",
        subscriber=subscriber,
        subject=event.type[:_SUBJECT_LENGTH],
    )
