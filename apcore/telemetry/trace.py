"""The spans of one call chain: recorded as they happen, held until its root ends, or dropped (§10.7)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

from opentelemetry import trace as otel

from apcore.context import new_span_id
from apcore.telemetry.ids import Spans
from apcore.telemetry.sampling import Decision

MOST_HELD: Final = 1_000
"""So many spans of a held trace are kept; how many more there were is said on its root."""

Attributes = Mapping[str, str | bool | int | float]


@dataclass(slots=True)
class Trace:
    """What holds for a whole call chain: decided at its root, inherited by all below it."""

    spans: Spans
    trace_id: int
    decision: Decision
    held: list[Span] = field(default_factory=list)
    left_out: int = 0
    has_failed: bool = False
    is_over: bool = False

    def start(
        self, name: str, parent: Span | None, above: otel.SpanContext | None = None, links: tuple[otel.Link, ...] = ()
    ) -> Span:
        """A span below ``parent`` or, at the root, below ``above``, a span that is not ours."""
        if self.decision == "record":
            above = above or (parent.context if parent is not None else None)
            made = self.spans.start(name, self.trace_id, above, links=links)
            return Span(self, name, parent, made.get_span_context(), links, made)
        context = otel.SpanContext(self.trace_id, new_span_id(), is_remote=False)
        return Span(self, name, parent, context, links, above=above)

    def end(self, span: Span, attributes: Attributes, error_code: str | None) -> None:
        """Finish a span. ``error_code`` is that of a failure; a call that waits for a person has not failed."""
        self.has_failed = self.has_failed or error_code is not None
        if self.decision == "record":
            _finish(span.made, attributes, error_code, None)
        elif self.decision == "hold":
            self._hold(span, attributes, error_code)

    def _hold(self, span: Span, attributes: Attributes, error_code: str | None) -> None:
        span.finished = _Finish(dict(attributes), error_code, time.time_ns())
        if self.is_over:  # it outlived its root, on another thread perhaps
            if self.has_failed:
                self._record(span)
            return
        if len(self.held) < MOST_HELD or span.parent is None:
            self.held.append(span)
        else:
            self.left_out += 1
        if span.parent is None:
            self._decide(span)

    def _decide(self, root: Span) -> None:
        self.is_over = True
        held, self.held = self.held, []
        if not self.has_failed:
            return
        if self.left_out and root.finished is not None:
            root.finished.attributes["apcore.spans_left_out"] = self.left_out
        held.reverse()  # where two began in the same moment, the parent, which ended later, comes first
        for span in sorted(held, key=lambda each: each.clock):
            self._record(span)

    def _record(self, span: Span) -> None:
        if span.finished is None or span.made is not None:
            return
        parent = span.parent.recorded_context if span.parent is not None else span.above
        span.made = self.spans.start(
            span.name,
            self.trace_id,
            parent,
            span_id=span.context.span_id,
            start_time=span.started_at,
            links=span.links,
        )
        _finish(span.made, span.finished.attributes, span.finished.error_code, span.finished.at)


@dataclass(slots=True)
class _Finish:
    attributes: dict[str, Any]
    error_code: str | None
    at: int


@dataclass(slots=True, eq=False)
class Span:
    """One span; ``made`` is OpenTelemetry's, None while the trace is held or if it is dropped.

    ``context`` is what goes out in a ``traceparent``: the spans of a held trace are not sampled for others.
    """

    trace: Trace
    name: str
    parent: Span | None
    context: otel.SpanContext
    links: tuple[otel.Link, ...] = ()
    made: otel.Span | None = None
    above: otel.SpanContext | None = None
    method: str = "execute"
    finished: _Finish | None = None
    started_at: int = field(default_factory=time.time_ns)
    clock: float = field(default_factory=perf_counter)

    @property
    def is_dropped(self) -> bool:
        """Whether nothing in its trace is recorded, whatever happens."""
        return self.trace.decision == "drop"

    @property
    def duration_ms(self) -> float:
        """Since it was started."""
        return (perf_counter() - self.clock) * 1000

    @property
    def recorded_context(self) -> otel.SpanContext | None:
        """Where its children hang when they are recorded after the fact: on the nearest span that was."""
        if self.made is not None:
            return self.made.get_span_context()
        return self.parent.recorded_context if self.parent is not None else self.above


def _finish(made: otel.Span | None, attributes: Attributes, error_code: str | None, at: int | None) -> None:
    if made is None:
        return
    made.set_attributes(dict(attributes))
    if error_code is not None:
        made.set_status(otel.Status(otel.StatusCode.ERROR, error_code))
    made.end(at)
