"""After the commit everybody hears of it: receivers of signals, subscribers of events, and webhooks."""

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.db import transaction
from django.dispatch import Signal

from apcore.events import Event, EventEmitter, HeldEvents
from django_apcore.effects import keep_books
from django_apcore.services._database import alias
from django_apcore.services._deliveries import has_stored, store_deliveries
from django_apcore.services._events import events_of


def announce(signal: Signal, sender: type, **news: Any) -> None:
    """Send a signal after the commit, and the events that it stands for. Receivers that fail disturb nobody.

    What webhooks are to get is stored now, in the caller's transaction: it leaves if that is committed, whatever dies
    afterwards, and not otherwise.
    """
    events = events_of(signal, news)
    keep_books(lambda: store_deliveries(events))
    transaction.on_commit(lambda: _send(signal, sender, news), using=alias())
    if events:
        transaction.on_commit(lambda: _emit(events), using=alias(), robust=True)


def announce_event(event: Event) -> None:
    """Have everybody hear of an event after the commit, as `announce` does."""
    keep_books(lambda: store_deliveries([event]))
    transaction.on_commit(lambda: _emit([event]), using=alias(), robust=True)


def store_held(held: HeldEvents) -> Sequence[Event]:
    """Store what webhooks are to get of the events that wait for the end of the transaction, in that transaction.

    Returns the events, for `has_stored` when they are emitted.
    """
    events = held.waiting_for(_emitter().emit)
    store_deliveries(events)
    return events


def _send(signal: Signal, sender: type, news: dict[str, Any]) -> None:
    signal.send_robust(sender=sender, **news)


def _emit(events: Sequence[Event]) -> None:
    emitter = _emitter()
    with has_stored(events):
        for event in events:
            emitter.emit(event)


def _emitter() -> EventEmitter:
    config: Any = apps.get_app_config("django_apcore")
    found: EventEmitter = config.get_runtime().app.events
    return found
