"""When a snapshot of database rows has to be read again."""

import asyncio
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

from django.db import connections, router
from django.db.models.signals import post_save

from django_apcore.conf import get_settings
from django_apcore.models import PolicyRevision
from django_apcore.signals import override_changed, policy_published, toggle_changed


class Freshness:
    """Reads a snapshot again when its revision has changed, and asks for the revision once per `REFRESH_SECONDS`.

    The process that changes a policy sees it at once, others when they ask next. What is read inside a transaction that
    itself changed the policy is not trusted beyond that moment: the transaction may be rolled back.
    """

    def __init__(self, name: str, load: Callable[[], None]) -> None:
        self._name = name
        self._load = load
        self._lock = threading.RLock()
        self._revision: int | None = None
        self._good_until = 0.0
        post_save.connect(self._expire, sender=PolicyRevision)
        policy_published.connect(self._expire)
        toggle_changed.connect(self._expire)
        override_changed.connect(self._expire)

    @property
    def is_stale(self) -> bool:
        """Whether the revision has to be looked up before the snapshot may be used."""
        return monotonic() >= self._good_until

    def refresh_unless_async(self) -> None:
        """Refresh for a caller that did not ask `is_stale`. On an event loop, where nothing may block, do nothing."""
        if self.is_stale and not _on_event_loop():
            self.refresh()

    def refresh(self) -> None:
        """Look up the revision and load the snapshot if it has changed. An error leaves it stale."""
        with self._lock:
            if not self.is_stale:
                return
            looked_at = monotonic()
            alias = router.db_for_read(PolicyRevision)
            revision = self._read_revision(alias)
            if revision != self._revision:
                self._load()
                if connections[alias].in_atomic_block:
                    self._revision = None
                    return
                self._revision = revision
            self._good_until = looked_at + get_settings().refresh_seconds

    def _read_revision(self, alias: str) -> int:
        found = PolicyRevision.objects.using(alias).filter(name=self._name).values_list("revision", flat=True).first()
        return found or 0

    def _expire(self, **kwargs: Any) -> None:
        self._good_until = 0.0


def _on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
