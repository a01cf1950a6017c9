"""The toggles that live in the database."""

from collections.abc import Callable
from typing import Any

from django.db import router

from apcore.toggles import Toggles
from django_apcore.models import PolicyRevision, Toggle
from django_apcore.services import toggle
from django_apcore.signals import override_changed
from django_apcore.stores._freshness import Freshness


class DatabaseToggles(Toggles):
    """Which modules are switched off, as a snapshot that the executor keeps fresh."""

    def __init__(self) -> None:
        super().__init__()
        self._freshness = Freshness(PolicyRevision.TOGGLES, self._load)
        self._followers: tuple[Callable[[], None], ...] = ()
        override_changed.connect(self._take_up)

    @property
    def is_stale(self) -> bool:
        """Whether `refresh()` has to be called before `is_enabled()`."""
        return self._freshness.is_stale

    def refresh(self) -> None:
        """Take up toggles that were changed."""
        self._freshness.refresh()

    def is_enabled(self, module_id: str) -> bool:
        """Whether the module may be called now."""
        self._freshness.refresh_unless_async()
        return super().is_enabled(module_id)

    def set(self, module_id: str, enabled: bool) -> None:
        """Switch a module for every process. Raises InvalidModuleIdError."""
        toggle(module_id, enabled=enabled, actor=None)

    def on_refresh(self, follow: Callable[[], None]) -> None:
        """Have something else read again whenever the toggles are: what shares their revision."""
        self._followers = (*self._followers, follow)

    def _take_up(self, **kwargs: Any) -> None:
        """The process that changed a value has it in force at once, before its next call."""
        self._freshness.refresh_unless_async()

    def _load(self) -> None:
        rows = Toggle.objects.using(router.db_for_read(Toggle)).filter(enabled=False)
        self.replace(rows.values_list("module_id", flat=True))
        for follow in self._followers:
            follow()
