"""Events that the core emits, and their subscribers (§9.16)."""

from apcore.events.core import CORE_EVENTS, RESERVED_PREFIX, CoreEvent, core_event
from apcore.events.emitter import EventEmitter, Subscription
from apcore.events.event import SEVERITIES, Event, Severity

__all__ = [
    "CORE_EVENTS",
    "RESERVED_PREFIX",
    "SEVERITIES",
    "CoreEvent",
    "Event",
    "EventEmitter",
    "Severity",
    "Subscription",
    "core_event",
]
