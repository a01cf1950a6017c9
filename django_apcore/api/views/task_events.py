"""Following a task without asking again and again: its status and progress as Server-Sent Events."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import router
from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request

from apcore.errors import ModuleError
from apcore.schema import canonical_json
from django_apcore import runtime
from django_apcore.api.base import ApiView
from django_apcore.api.errors import RequestError
from django_apcore.api.openapi import described, one_event, streaming_answers
from django_apcore.api.serializers import TaskSummarySerializer
from django_apcore.api.streams import HEARTBEAT, SSE, EventStreamRenderer, is_under_asgi, sse_event, stream_response
from django_apcore.api.views.tasks import OneTaskView
from django_apcore.api.visibility import visible_tasks
from django_apcore.conf import get_settings
from django_apcore.models import AsyncTask

POLL_SECONDS: Final = 0.5
"""How often the database is asked."""

HEARTBEAT_SECONDS: Final = 15.0
"""After how long a silence a comment is sent."""

RETRY_MILLISECONDS: Final = 2_000
"""After how long a client that lost the stream opens it again."""

_EVENTS: Final = (
    "`status` whenever the status changes, `progress` whenever only the progress does; each with the task as tasks/ "
    "lists it. The stream ends with the task, or after a while: then open it again with `Last-Event-ID`, as browsers "
    "do by themselves."
)


class TaskEventsView(OneTaskView):
    """One task, as it goes on."""

    renderer_classes = [EventStreamRenderer]

    @described(
        operation_id="follow_task",
        parameters=[
            OpenApiParameter("Last-Event-ID", location="header", description="The last event that you have seen.")
        ],
        responses=streaming_answers(
            {SSE: OpenApiResponse(one_event("status", "progress"), description=_EVENTS)}, 404, 406, 503
        ),
    )
    def get(self, request: Request, task_id: UUID) -> StreamingHttpResponse:
        """Follow a task until it has ended. Who may read a task may follow it."""
        self.task(task_id)
        streams = runtime.get().event_streams
        if not streams.acquire(blocking=False):
            raise _too_many()
        parts = TaskParts(self, task_id, request.headers.get("Last-Event-ID"), leave=streams.release)
        return stream_response(_WithoutThread(parts) if is_under_asgi(request) else parts, SSE)


class TaskParts:
    """The events of one task, by looking at it again and again."""

    def __init__(self, view: ApiView, task_id: UUID, last_seen: str | None, *, leave: Callable[[], None]) -> None:
        self._view, self._task_id, self._last_seen, self._leave = view, task_id, last_seen, leave
        self._status: str | None = None
        self._ends_at = time.monotonic() + get_settings().api_event_stream_seconds
        self._silent_since = time.monotonic()
        self._is_closed = False

    def close(self) -> None:
        """Give the place to another stream, once."""
        if not self._is_closed:
            self._is_closed = True
            self._leave()

    def __iter__(self) -> Iterator[bytes]:
        yield _RETRY
        while (part := self.look()) is not None:
            if part:
                yield part
            if self.is_over:
                return
            time.sleep(POLL_SECONDS)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to say, or the time for this stream is over."""
        return self._status in _TERMINAL or self._is_closed or time.monotonic() >= self._ends_at

    def look(self) -> bytes | None:
        """What is new, nothing (an empty part), or None when the caller may not see the task any more."""
        user, identity = self._view.request.user, self._view.call_context.identity
        tasks = visible_tasks(user, identity).using(router.db_for_write(AsyncTask)).select_related("requested_by")
        task = tasks.filter(pk=self._task_id).first()
        return None if task is None else self._news(task)

    def _news(self, task: AsyncTask) -> bytes:
        event_id = _event_id(task)
        name = "progress" if task.status == self._status else "status"
        self._status = task.status
        now = time.monotonic()
        if event_id == self._last_seen:
            if now - self._silent_since < HEARTBEAT_SECONDS:
                return b""
            self._silent_since = now
            return HEARTBEAT
        self._last_seen, self._silent_since = event_id, now
        data: Any = TaskSummarySerializer(task, context={"request": self._view.request}).data
        return sse_event(name, data, event_id)


class _WithoutThread:
    """The events for an ASGI server: no thread is held while nothing happens."""

    def __init__(self, parts: TaskParts) -> None:
        self._parts, self.close = parts, parts.close

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield _RETRY
        while (part := await sync_to_async(self._parts.look)()) is not None:
            if part:
                yield part
            if self._parts.is_over:
                return
            await asyncio.sleep(POLL_SECONDS)


_RETRY: Final = f"retry: {RETRY_MILLISECONDS}\n\n".encode()
_TERMINAL: Final = frozenset({AsyncTask.Status.COMPLETED, AsyncTask.Status.FAILED, AsyncTask.Status.CANCELLED})


def _event_id(task: AsyncTask) -> str:
    """A name for what an event says: who brings it has seen just that, whichever process sent it."""
    seen = [task.status, task.progress_done, task.progress_total, task.progress_message, task.cancel_requested]
    return hashlib.sha256(canonical_json(seen).encode()).hexdigest()[:16]


def _too_many() -> ModuleError:
    error = RequestError(
        "This process follows tasks for as many callers as it may; ask for the task itself, or try again later.",
        code="REQUEST_TOO_MANY_STREAMS",
        http_status=503,
        retryable=True,
    )
    error.wait = RETRY_MILLISECONDS // 1000
    return error
