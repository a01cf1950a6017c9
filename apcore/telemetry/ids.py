"""How a root span gets the trace ID of its context, whichever tracer makes it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Tracer

from apcore.context import new_span_id


class GivenIds:
    """The ID generator of a tracer, which returns given IDs while there are some, and its own otherwise.

    It has the shape of the SDK's ``IdGenerator``, which this package does not need to be installed.
    """

    def __init__(self, own: Any) -> None:
        self._own = own
        self._given = threading.local()

    @contextmanager
    def giving(self, trace_id: int, span_id: int | None) -> Iterator[None]:
        """The IDs of the one span that is started inside of the block, on this thread."""
        self._given.ids = (trace_id, span_id)
        try:
            yield
        finally:
            self._given.ids = (None, None)

    def generate_trace_id(self) -> int:
        """The given ID, or a random one."""
        given: int | None = getattr(self._given, "ids", (None, None))[0]
        return self._own.generate_trace_id() if given is None else given

    def generate_span_id(self) -> int:
        """The given ID, or a random one."""
        given: int | None = getattr(self._given, "ids", (None, None))[1]
        return self._own.generate_span_id() if given is None else given

    def is_trace_id_random(self) -> bool:
        """Our trace IDs are random in all their bits."""
        return bool(getattr(self._own, "is_trace_id_random", lambda: False)())


class Spans:
    """Starts spans of one tracer, with chosen IDs where the tracer lets its generator be replaced (the SDK's does).

    Where it does not, a root is started below a parent that nobody recorded, which keeps the trace ID.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._ids: GivenIds | None = None
        own = getattr(tracer, "id_generator", None)
        if isinstance(own, GivenIds):
            self._ids = own
        elif own is not None:
            self._ids = GivenIds(own)
            tracer.id_generator = self._ids  # type: ignore[attr-defined]  # an attribute of the SDK's tracer

    def start(
        self,
        name: str,
        trace_id: int,
        parent: trace.SpanContext | None,
        *,
        span_id: int | None = None,
        start_time: int | None = None,
        links: tuple[trace.Link, ...] = (),
    ) -> trace.Span:
        """A span of this trace. Times are nanoseconds since 1970."""
        if parent is None and self._ids is None:
            parent = remote(trace_id, new_span_id())
        above = trace.set_span_in_context(trace.NonRecordingSpan(parent)) if parent is not None else _nowhere()
        if self._ids is None:
            return self._start(name, above, start_time, links)
        with self._ids.giving(trace_id, span_id):
            return self._start(name, above, start_time, links)

    def _start(self, name: str, above: Any, start_time: int | None, links: tuple[trace.Link, ...]) -> trace.Span:
        return self._tracer.start_span(
            name,
            above,
            links=links,
            start_time=start_time,
            record_exception=False,  # the text of an exception may hold secrets
            set_status_on_exception=False,
        )


def remote(trace_id: int, span_id: int, *, sampled: bool = True) -> trace.SpanContext:
    """A span that some other process made."""
    return trace.SpanContext(trace_id, span_id, is_remote=True, trace_flags=trace.TraceFlags(int(sampled)))


def _nowhere() -> Any:
    return trace.set_span_in_context(trace.INVALID_SPAN)
