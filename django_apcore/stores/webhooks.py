"""Webhooks as a subscriber of this process's events."""

import asyncio
from typing import Any

from asgiref.sync import sync_to_async

from apcore.events import Event
from django_apcore.services import store_deliveries


class WebhookOutbox:
    """Puts events into the outbox, for every webhook that wants to hear of them.

    In the transaction that is open, if one is: an event of work that is undone is not delivered.
    """

    name = "webhooks"

    def on_event(self, event: Event) -> Any:
        """Store the deliveries; on an event loop, where nothing may block, on the thread for such code."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            store_deliveries([event])
            return None
        return sync_to_async(store_deliveries, thread_sensitive=True)([event])
