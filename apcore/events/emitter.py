"""Who hears of what happens (§9.16)."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable, Collection, Iterable
from contextvars import copy_context
from dataclasses import replace
from typing import Any

from asgiref.sync import async_to_sync, iscoroutinefunction, sync_to_async

from apcore.errors import InvalidInputError, require_texts
from apcore.events.background import flush_all
from apcore.events.core import RESERVED_PREFIX, is_forged
from apcore.events.event import Event, Severity
from apcore.events.holding import held_events
from apcore.events.subscription import Subscription
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, redact

logger = logging.getLogger("apcore.events")


class EventEmitter:
    """Tells subscribers what happened; one that fails is logged and disturbs neither the emitter nor others.

    What is emitted reaches subscribers without the values of ``sensitive_keys``. Inside of ``hold_events()`` it waits.
    """

    def __init__(self, *, sensitive_keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> None:
        self._sensitive_keys = frozenset(require_texts("sensitive_keys", sensitive_keys))
        self._changing = threading.Lock()
        self._subscriptions: tuple[Subscription, ...] = ()
        self._deliveries: set[asyncio.Task[None]] = set()  # a loop itself holds its tasks weakly

    @property
    def has_subscribers(self) -> bool:
        """Whether an event would be heard by anybody: where it would not, it need not be made."""
        return bool(self._subscriptions)

    def subscribe(
        self,
        subscriber: Any,
        *,
        types: Iterable[str] | None = None,
        min_severity: Severity = "info",
        modules: Iterable[str] | None = None,
        background: bool | None = None,
    ) -> Subscription:
        """Let an object with ``on_event(event)``, or a callable, hear of what it asks for; both may be coroutines.

        ``types`` and ``modules`` are patterns as for module IDs, ``apcore.health.*``; with ``modules``, events that are
        about no module are left out. ``background`` puts delivery into a thread with a queue, for subscribers that take
        their time; unless given, the subscriber's own attribute ``background`` says so.

        Raises InvalidInputError for what is no subscriber, for a bare string as patterns, and for an unknown severity.
        """
        subscription = Subscription.of(subscriber, types, min_severity, modules, background, self._settle)
        with self._changing:
            self._subscriptions = (*self._subscriptions, subscription)
        return subscription

    def unsubscribe(self, subscriber: Any) -> bool:
        """Tell a subscriber (or one of its subscriptions) nothing any more; whether it was there."""
        with self._changing:
            left = tuple(
                each
                for each in self._subscriptions
                if subscriber is not each and subscriber != each.subscriber  # bound methods are equal, not the same
            )
            was_there = len(left) < len(self._subscriptions)
            self._subscriptions = left
        return was_there

    def emit(self, event: Event) -> None:
        """Tell everybody who wants to hear of it, and return when those without ``background`` know.

        Synchronous subscribers run here and now. Coroutines run to their end too, unless this thread runs an event
        loop: then they become tasks of it. Raises InvalidInputError for a reserved type (§9.16.1), and nothing else.
        """
        listeners, shown = self._audience(event)
        for each in listeners:
            if each.queue is None:
                self._settle(each, shown)
            else:
                each.queue.put(shown)

    async def emit_async(self, event: Event) -> None:
        """Like ``emit``, from a coroutine: coroutines are awaited, and synchronous subscribers run on the thread that
        asgiref keeps for code that must not run in a loop. Raises InvalidInputError for a reserved type.
        """
        listeners, shown = self._audience(event)
        for each in listeners:
            if each.queue is not None:
                each.queue.put(shown)
            elif iscoroutinefunction(each.deliver):
                await self._heard(each, each.deliver, shown)
            else:
                await self._heard(each, sync_to_async(each.deliver, thread_sensitive=True), shown)

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait for what is delivered in the background, at most ``timeout`` seconds; whether all was delivered."""
        return flush_all([each.queue for each in self._subscriptions if each.queue is not None], timeout)

    def _audience(self, event: Event) -> tuple[list[Subscription], Event]:
        """Who is told, and what. Nobody yet, if the event waits."""
        given: object = event
        if not isinstance(given, Event):
            raise InvalidInputError(f"What is emitted is an Event, not {type(given).__name__}")
        if is_forged(event):
            raise InvalidInputError(
                f"'{event.type}': types that begin with '{RESERVED_PREFIX}' are the framework's; use another prefix",
                details={"type": event.type},
            )
        if not self._subscriptions:
            return [], event
        held = held_events()
        if held is not None:
            held.add(self.emit, event)
            return [], event
        listeners = [each for each in self._subscriptions if each.wants(event)]
        if not listeners:
            return [], event
        return listeners, replace(event, data=redact(dict(event.data), None, self._sensitive_keys))

    def _settle(self, subscription: Subscription, event: Event) -> None:
        """Deliver on this thread, whatever comes of it."""
        try:
            answer = subscription.timed(event)
            if not inspect.isawaitable(answer):
                return
            if (loop := _running_loop()) is None:
                async_to_sync(self._heard)(subscription, lambda event: answer, event)
                return
        except Exception as error:  # noqa: BLE001 - a subscriber may raise anything, and is not the emitter's concern
            subscription.has_failed(event, error)
            return
        except (GeneratorExit, SystemExit, asyncio.CancelledError) as error:
            if not _is_its_own(error):
                raise
            subscription.has_failed(event, error)
            return
        task = loop.create_task(self._heard(subscription, lambda event: answer, event), context=copy_context())
        self._deliveries.add(task)
        task.add_done_callback(self._deliveries.discard)

    async def _heard(self, subscription: Subscription, deliver: Callable[[Event], Any], event: Event) -> None:
        try:
            answer = await deliver(event)
            if inspect.isawaitable(answer):
                await answer
        except Exception as error:  # noqa: BLE001 - as above
            subscription.has_failed(event, error)
        except (GeneratorExit, SystemExit, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if (task is not None and task.cancelling()) or not _is_its_own(error):
                raise
            subscription.has_failed(event, error)


def _is_its_own(error: BaseException) -> bool:
    """A worker that is told to stop raises a subclass of SystemExit, and stops."""
    return not isinstance(error, SystemExit) or type(error) is SystemExit


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
