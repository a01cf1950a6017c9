"""One subscriber and what it wants to hear of."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

from apcore.errors import InvalidInputError
from apcore.errors.telling import told
from apcore.events.background import BackgroundDelivery
from apcore.events.event import SEVERITIES, Event, Severity
from apcore.ids import match_pattern

logger = logging.getLogger("apcore.events")

_QUEUED = 1000
_SLOW_SECONDS = 0.25

Settle = Callable[["Subscription", Event], None]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Subscription:
    """What ``EventEmitter.subscribe()`` returns. ``queue`` is there for a subscriber in the background."""

    subscriber: Any
    deliver: Callable[[Event], Any]
    types: tuple[str, ...]
    severities: frozenset[str]
    modules: tuple[str, ...] | None
    queue: BackgroundDelivery | None = field(default=None, init=False)

    @classmethod
    def of(
        cls,
        subscriber: Any,
        types: Iterable[str] | None,
        min_severity: Severity,
        modules: Iterable[str] | None,
        background: bool | None,
        settle: Settle,
    ) -> Subscription:
        """Read what ``subscribe()`` was given. Raises InvalidInputError."""
        deliver = getattr(subscriber, "on_event", subscriber)
        if isinstance(subscriber, type) and deliver is not subscriber:
            raise InvalidInputError(f"{subscriber.__name__} is a class; what subscribes is an instance of it")
        if not callable(deliver):
            raise InvalidInputError(f"{type(subscriber).__name__} has no on_event() and is not callable")
        if min_severity not in SEVERITIES:
            raise InvalidInputError(f"min_severity is one of {', '.join(SEVERITIES)}, not {min_severity!r}")
        severities = frozenset(SEVERITIES[SEVERITIES.index(min_severity) :])
        subscription = cls(
            subscriber,
            deliver,
            ("*",) if types is None else _patterns("types", types),
            severities,
            None if modules is None else _patterns("modules", modules),
        )
        if background if background is not None else getattr(subscriber, "background", False):
            queue = BackgroundDelivery(partial(settle, subscription), subscription.name, _QUEUED)
            object.__setattr__(subscription, "queue", queue)
        return subscription

    @property
    def name(self) -> str:
        """What logs call it."""
        named = getattr(self.subscriber, "name", None) or getattr(self.subscriber, "__qualname__", None)
        return str(named or type(self.subscriber).__name__)

    def wants(self, event: Event) -> bool:
        """Whether the event is among what was subscribed to."""
        return (
            event.severity in self.severities
            and any(match_pattern(pattern, event.type) for pattern in self.types)
            and (self.modules is None or self._is_about_one(event.module_id))
        )

    def _is_about_one(self, module_id: str | None) -> bool:
        return module_id is not None and any(match_pattern(each, module_id) for each in self.modules or ())

    def timed(self, event: Event) -> Any:
        """Deliver here, and say so when it held up the caller."""
        begin = perf_counter()
        try:
            return self.deliver(event)
        finally:
            seconds = perf_counter() - begin
            if seconds > _SLOW_SECONDS and self.queue is None:
                logger.warning(
                    "%s took %.1f s for '%s', and the call waited; subscribe it with background=True",
                    self.name,
                    seconds,
                    event.type,
                )

    def has_failed(self, event: Event, error: BaseException) -> None:
        """Log the kind of the error and where it was; its text may hold secrets."""
        logger.error("%s failed on '%s': %s", self.name, event.type, told(error))


def _patterns(name: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        raise InvalidInputError(f"{name} takes a list of patterns; write [{given!r}]")
    patterns = tuple(given) if isinstance(given, Iterable) else (given,)
    for each in patterns:
        # One that cannot be compared would fail in emit(), and keep the event from everybody else.
        if not isinstance(each, str) or not each:
            raise InvalidInputError(f"{name} takes a list of patterns such as 'apcore.*', not {each!r}")
    return patterns
