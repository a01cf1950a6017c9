"""Answers that come in parts: how an event is written, and how the parts leave under WSGI and under ASGI."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, Final, Protocol

from asgiref.sync import sync_to_async
from django.core.signals import request_finished
from django.http import StreamingHttpResponse
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

SSE: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"

HEARTBEAT: Final = b": still here\n\n"
"""A comment of an event stream, which keeps proxies from closing it and says that somebody is there."""


class EventStreamRenderer(BaseRenderer):
    """Server-Sent Events; here only so that `Accept` can ask for them."""

    media_type = SSE
    format = "sse"
    charset = "utf-8"


class NdjsonRenderer(BaseRenderer):
    """One JSON object per line; here only so that `Accept` can ask for it."""

    media_type = NDJSON
    format = "ndjson"
    charset = "utf-8"


def sse_event(name: str, data: Any, event_id: str | None = None) -> bytes:
    """One Server-Sent Event. Raises what JSON raises for values that it cannot hold."""
    head = f"id: {event_id}\n" if event_id else ""
    return head.encode() + f"event: {name}\n".encode() + b"data: " + _json(data) + b"\n\n"


def ndjson_event(name: str, data: Any) -> bytes:
    """The same as a line. Raises what JSON raises for values that it cannot hold."""
    return b'{"event":' + json.dumps(name).encode() + b',"data":' + _json(data) + b"}\n"


def event_writer(media_type: str) -> Callable[[str, Any], bytes]:
    """How events are written for who accepts this media type."""
    return ndjson_event if media_type.startswith(NDJSON) else sse_event


def _json(data: Any) -> bytes:
    """On one line: U+2028 and its like are escaped by the renderer, and line feeds by JSON."""
    written: bytes = JSONRenderer().render(data)
    return written


class Parts(Protocol):
    """The body of an answer, made on the thread of its request and closed on it."""

    def __iter__(self) -> Iterator[bytes]: ...

    def abandon(self) -> None:
        """The client is gone, while the next part is being made perhaps. May be called on another thread."""

    def close(self) -> None:
        """The answer is over, or nobody reads it any more."""


def streamed(request: Request, parts: Parts, media_type: str) -> StreamingHttpResponse:
    """The answer that sends parts as they come; they are closed in the end, also when the client goes away."""
    return stream_response(_OnItsThread(parts) if is_under_asgi(request) else parts, media_type)


def stream_response(content: Any, media_type: str) -> StreamingHttpResponse:
    """An answer that no proxy holds back. `content.close()` is called on the thread of the request, perhaps twice."""
    headers = {"X-Accel-Buffering": "no"}
    if hasattr(content, "__aiter__"):
        _answered.close = content.close
    return StreamingHttpResponse(content, content_type=f"{media_type}; charset=utf-8", headers=headers)


_answered = threading.local()
"""The end of the answer that this thread made last; under ASGI a thread belongs to one request."""


def close_dropped(**signal: Any) -> None:
    """End an answer that nobody will read: Django drops it where the client went away while the view still ran, and
    closes nothing. The signal comes on the thread of the view, after the view."""
    close = vars(_answered).pop("close", None)
    if close is not None:
        close()


request_finished.connect(close_dropped, dispatch_uid="django_apcore.close_dropped")


def is_under_asgi(request: Request) -> bool:
    """Whether the answer will be iterated on an event loop."""
    return hasattr(request, "scope")


class _OnItsThread:
    """Parts for an ASGI server: each is made on the thread of the request, whose transaction may be open."""

    def __init__(self, parts: Parts) -> None:
        self._next = partial(next, iter(parts), None)
        self._abandon, self.close = parts.abandon, parts.close

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        try:
            part: bytes | None = await sync_to_async(self._next)()
        except asyncio.CancelledError:
            self._abandon()
            raise
        if part is None:
            raise StopAsyncIteration
        return part
