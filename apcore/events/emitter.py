"""Who hears of what happens (§9.16)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from apcore.errors import InvalidInputError
from apcore.events.core import RESERVED_PREFIX, is_forged
from apcore.events.event import Event
from apcore.ids import match_pattern
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, redact

logger = logging.getLogger("apcore.events")


@dataclass(frozen=True, slots=True)
class Subscription:
    """One subscriber and what it wants to hear of."""

    subscriber: Any
    deliver: Callable[[Event], Any]
    types: tuple[str, ...]

    def wants(self, event: Event) -> bool:
        """Whether the event is among what was subscribed to."""
        return any(match_pattern(pattern, event.type) for pattern in self.types)


class EventEmitter:
    """Tells subscribers what happened; a subscriber that fails is logged and disturbs neither the emitter nor others.

    What is emitted reaches subscribers without the values of ``sensitive_keys``.
    """

    def __init__(self, *, sensitive_keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> None:
        self._sensitive_keys = frozenset(sensitive_keys)
        self._subscriptions: tuple[Subscription, ...] = ()

    def subscribe(self, subscriber: Any, *, types: Iterable[str] | None = None) -> Subscription:
        """Let an object with ``on_event(event)``, or a callable, hear of events whose type matches one of ``types``.

        Patterns are those of module IDs: ``apcore.health.*``. Raises InvalidInputError for a subscriber that is
        neither.
        """
        deliver = getattr(subscriber, "on_event", subscriber)
        if not callable(deliver):
            raise InvalidInputError(f"{type(subscriber).__name__} has no on_event() and is not callable")
        subscription = Subscription(subscriber, deliver, ("*",) if types is None else tuple(types))
        self._subscriptions = (*self._subscriptions, subscription)
        return subscription

    def unsubscribe(self, subscriber: Any) -> bool:
        """Tell a subscriber (or one of its subscriptions) nothing any more; whether it was there."""
        left = tuple(each for each in self._subscriptions if subscriber not in (each, each.subscriber))
        was_there = len(left) < len(self._subscriptions)
        self._subscriptions = left
        return was_there

    def emit(self, event: Event) -> None:
        """Tell everybody who wants to hear of it. Raises InvalidInputError for a reserved type (§9.16.1)."""
        if is_forged(event):
            raise InvalidInputError(
                f"'{event.type}': types that begin with '{RESERVED_PREFIX}' are the framework's; use another prefix",
                details={"type": event.type},
            )
        listeners = [each for each in self._subscriptions if each.wants(event)]
        if not listeners:
            return
        shown = replace(event, data=redact(dict(event.data), None, self._sensitive_keys))
        for each in listeners:
            try:
                each.deliver(shown)
            except Exception:
                logger.exception("A subscriber failed to handle '%s'", event.type)
