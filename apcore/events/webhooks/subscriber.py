"""Tells one receiver over HTTP, from a thread of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from time import sleep

from apcore.events.core import EVENTS_DEAD_LETTER, core_event
from apcore.events.emitter import EventEmitter
from apcore.events.event import Event
from apcore.events.webhooks.sending import DeliveryError, Send, send_webhook, signed_request

logger = logging.getLogger("apcore.events")


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often a delivery is tried, and how many seconds lie between two attempts: twice as many each time."""

    attempts: int = 5
    first: float = 1.0
    longest: float = 60.0

    def seconds_after(self, attempt: int) -> float:
        """The pause after attempt number ``attempt``, which counts from 1."""
        return min(self.longest, self.first * 2.0 ** min(attempt - 1, 60))


class WebhookSubscriber:
    """Sends events to ``url``, signed with ``secret``; what cannot be delivered becomes an event itself.

    ``send`` is how a request is sent; unless given it is ``send_webhook``, which reaches public addresses only.
    ``apcore.events.dead_letter`` goes to ``emitter``, and never back to this receiver; there is none about another one.
    Deliveries wait in memory: they end with the process. For deliveries that outlive it, the Django app keeps webhooks
    in the database.
    """

    background = True

    def __init__(
        self,
        url: str,
        secret: str,
        emitter: EventEmitter,
        *,
        name: str = "webhook",
        send: Send = send_webhook,
        backoff: Backoff | None = None,
        pause: Callable[[float], None] = sleep,
    ) -> None:
        self.name = name
        self._url = url
        self._secret = secret
        self._emitter = emitter
        self._send = send
        self._backoff = Backoff() if backoff is None else backoff
        self._pause = pause

    def on_event(self, event: Event) -> None:
        """Deliver, again and again if need be, and give up with an event."""
        if is_dead_letter_about(event, self.name):
            return
        for attempt in range(1, self._backoff.attempts + 1):
            try:
                self._send(signed_request(self._url, self._secret, event))
                return
            except DeliveryError as error:
                logger.warning("%s was not told of '%s' (%s, attempt %d)", self.name, event.type, error, attempt)
                if error.permanent or attempt == self._backoff.attempts:
                    self._give_up(event, attempt, str(error))
                    return
            self._pause(self._backoff.seconds_after(attempt))

    def _give_up(self, event: Event, attempts: int, problem: str) -> None:
        """Two receivers that are away would otherwise tell each other of it for ever."""
        if event.type != EVENTS_DEAD_LETTER:
            self._emitter.emit(dead_letter(event.event_id, event.type, self.name, attempts, problem))


def dead_letter(event_id: str, event_type: str, subscriber: str, attempts: int, error: str) -> Event:
    """The event that says: this one was not delivered, and will not be."""
    return core_event(
        EVENTS_DEAD_LETTER,
        {
            "event_id": event_id,
            "event_type": event_type,
            "subscriber": subscriber,
            "attempts": attempts,
            "error": error,
        },
    )


def is_dead_letter_about(event: Event, subscriber: str) -> bool:
    """Whether an event says that this subscriber could not be reached: it need not be told, and could not."""
    return event.type == EVENTS_DEAD_LETTER and event.data.get("subscriber") == subscriber
