"""How a running task and the database keep in touch: progress goes out, the wish to cancel comes in."""

from time import monotonic
from uuid import UUID

from django.db import connections

from apcore.context import CancelToken
from django_apcore.models import AsyncTask
from django_apcore.models.fields import storable
from django_apcore.services._database import alias

_SECONDS = 0.5


class TaskCancelToken(CancelToken):
    """A token that also hears of a cancellation that another process wrote down, at most half a second later."""

    __slots__ = ("_next_look", "_task_id")

    def __init__(self, task_id: UUID) -> None:
        super().__init__()
        self._task_id = task_id
        self._next_look = 0.0

    @property
    def reason(self) -> str | None:
        """Why, or None while nobody asked."""
        known = super().reason
        if known is None and monotonic() >= self._next_look:
            self._look()
            known = super().reason
        return known

    def _look(self) -> None:
        self._next_look = monotonic() + _SECONDS
        row = AsyncTask.objects.using(alias()).filter(pk=self._task_id, cancel_requested=True)
        if row.exists():
            self.cancel("cancelled by request")


class ProgressWriter:
    """Writes progress at most twice a second, and the last report always.

    Inside a transaction nothing is written: nobody could see it before the end, and it is no effect of the module.
    """

    def __init__(self, task_id: UUID) -> None:
        self._task_id = task_id
        self._next_write = 0.0

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        is_last = total is not None and done >= total
        if connections[alias()].in_atomic_block or (monotonic() < self._next_write and not is_last):
            return
        self._next_write = monotonic() + _SECONDS
        AsyncTask.objects.using(alias()).filter(pk=self._task_id, status=AsyncTask.Status.RUNNING).update(
            progress_done=max(0, done),
            progress_total=None if total is None else max(0, total),
            progress_message=storable(message),
        )
