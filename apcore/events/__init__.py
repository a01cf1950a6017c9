"""Events that the core emits, and their subscribers (§9.16)."""

from apcore.events.core import CORE_EVENTS, RESERVED_PREFIX, CoreEvent, core_event
from apcore.events.emitter import EventEmitter
from apcore.events.event import SEVERITIES, Event, Severity
from apcore.events.holding import HeldEvents, held_events, hold_events
from apcore.events.subscription import Subscription

__all__ = [
    "CORE_EVENTS",
    "RESERVED_PREFIX",
    "SEVERITIES",
    "CoreEvent",
    "Event",
    "EventEmitter",
    "HeldEvents",
    "Severity",
    "Subscription",
    "core_event",
    "held_events",
    "hold_events",
]
