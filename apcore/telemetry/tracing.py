"""Spans of calls through OpenTelemetry's API (§10.1, §10.5, §10.7, §10.8)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry import trace as otel

from apcore.context import Context, TraceLink, TraceParent, is_trace_id
from apcore.errors import ConfigError, require
from apcore.telemetry.ids import Spans, remote
from apcore.telemetry.outcomes import error_code_of, is_waiting
from apcore.telemetry.propagation import active_span
from apcore.telemetry.sampling import Decision, Sampler
from apcore.telemetry.settings import TracingSettings
from apcore.telemetry.trace import Span, Trace

logger = logging.getLogger("apcore.telemetry")

SCOPE: Final = "apcore"
EXTERNAL: Final = "@external"

_NOTHING: Final = (otel.ProxyTracerProvider, otel.NoOpTracerProvider)
"""What the global provider is as long as nobody configured one."""


class TracingProvider:
    """Starts and ends spans (§12.2). ``provider`` is OpenTelemetry's; without one it is the global one of the process.

    Where there is none of these either, ``fallback(settings)`` makes one, once; without it there is nothing to record,
    and contexts stay as they are.
    """

    def __init__(
        self,
        settings: TracingSettings | None = None,
        provider: otel.TracerProvider | None = None,
        *,
        fallback: Callable[[TracingSettings], otel.TracerProvider] | None = None,
    ) -> None:
        self.settings = TracingSettings(enabled=True) if settings is None else settings
        require("settings", self.settings, TracingSettings, "TracingSettings")
        self._fallback = fallback
        self._own: otel.TracerProvider | None = None
        self._sampler = Sampler(self.settings.strategy, self.settings.sampling_rate)
        self._given = provider
        self._known: tuple[otel.TracerProvider, Spans] | None = None

    @property
    def exporting(self) -> otel.TracerProvider | None:
        """The provider that ``fallback`` made, if it had to."""
        return self._own

    @property
    def is_on(self) -> bool:
        """Whether the settings let anything be recorded."""
        return self.settings.is_on

    def start_span(self, name: str, context: Context) -> Span | None:
        """A span below the one that ``context`` is in, else a root in the trace of the context; None if not traced.

        Calling code ends it with ``end_span()``. A span that OpenTelemetry knows as active wins over the context where
        both are in one trace, and decides the trace of a context that was made without one.
        """
        known = context.span
        if isinstance(known, Span):
            return known.trace.start(name, known, _closer(known)) if known.trace.decision != "drop" else None
        trace, above, links = self._begin(context, known)
        return trace.start(name, None, above, links) if trace is not None else None

    def end_span(
        self, span: Span | None, attributes: Mapping[str, Any] | None = None, error: BaseException | None = None
    ) -> None:
        """End a span with its attributes, ``duration_ms`` and ``success`` among them, and ``error_code`` if it failed.

        Of the error only the code is told: its text may hold secrets.
        """
        if span is None:
            return
        told = {"duration_ms": span.duration_ms, "method": span.method, "success": error is None, **(attributes or {})}
        code = error_code_of(error)
        if code is not None:
            told["error_code"] = code
        span.trace.end(span, told, None if is_waiting(code) else code)

    @contextmanager
    def span(self, name: str, context: Context, attributes: Mapping[str, Any]) -> Iterator[Span | None]:
        """A span for as long as the block runs; code in the block finds it as OpenTelemetry's active span."""
        span = self.start_span(name, context)
        if span is None:
            yield None
            return
        inherited = context.span
        span.method = inherited.method if isinstance(inherited, Span) else span.method
        with active(span):
            try:
                yield span
            except BaseException as error:
                self.end_span(span, attributes, error)
                raise
        self.end_span(span, attributes)

    def discovering(self) -> Any:
        """``apcore.registry.discover``, for `Registry.observe`."""
        return self.span("apcore.registry.discover", Context.create(), {"module_id": "*", "method": "describe"})

    def _begin(
        self, context: Context, known: object
    ) -> tuple[Trace | None, otel.SpanContext | None, tuple[otel.Link, ...]]:
        """The trace of a call that no traced call made, the span it hangs on, and the spans it points to."""
        spans = self._spans()
        if spans is None or not self.is_on:
            return None, None, ()
        active = otel.get_current_span().get_span_context()
        if known is None and active.is_valid:  # a context that was made here continues what is going on here
            context.trace_id = otel.format_trace_id(active.trace_id)
            context.span = known = active_span()
        if not is_trace_id(context.trace_id):
            return None, None, ()
        trace_id = int(context.trace_id, 16)
        above, links = _origin(known, trace_id, active)
        decision = self._decide(context.trace_id, known, above)
        return Trace(spans, trace_id, decision), above, links

    def _decide(self, trace_id: str, known: object, above: otel.SpanContext | None) -> Decision:
        """Who has a parent inherits; so does a call that was asked for earlier, unless its failure would be wanted."""
        if above is not None:
            return "record" if above.trace_flags.sampled else "drop"
        decided = self._sampler.decide(trace_id)
        if isinstance(known, TraceLink) and known.parent.is_sampled:
            return "record"
        return decided if not isinstance(known, TraceLink) or decided == "hold" else "drop"

    def _spans(self) -> Spans | None:
        provider = self._given or otel.get_tracer_provider()
        found = self._fallback_provider() if isinstance(provider, _NOTHING) else provider
        if found is None:
            return None
        if self._known is None or self._known[0] is not found:
            self._known = (found, Spans(found.get_tracer(SCOPE)))
        return self._known[1]

    def _fallback_provider(self) -> otel.TracerProvider | None:
        if self._own is None and self._fallback is not None:
            self._own = self._made(self._fallback)
        return self._own

    def _made(self, fallback: Callable[[TracingSettings], otel.TracerProvider]) -> otel.TracerProvider | None:
        """What the settings ask for. That it cannot be had is said once, and ends no call."""
        try:
            return fallback(self.settings)
        except ConfigError as error:
            self._fallback = None
            logger.warning("Calls are not traced: %s", error.message)
            return None


@contextmanager
def active(span: Span) -> Iterator[None]:
    """Make a span OpenTelemetry's active one, so that spans of others become its children, recorded as it is."""
    made = span.made if span.made is not None else otel.NonRecordingSpan(span.context)
    token = otel_context.attach(otel.set_span_in_context(made))
    try:
        yield
    finally:
        otel_context.detach(token)


def _closer(known: Span) -> otel.SpanContext | None:
    """A span of somebody else inside of ours, which the next one hangs on; None if ours is the closest."""
    context = otel.get_current_span().get_span_context()
    is_inside = context.is_valid and context.trace_id == known.context.trace_id and known.made is not None
    return context if is_inside else None


def _origin(
    known: object, trace_id: int, active: otel.SpanContext
) -> tuple[otel.SpanContext | None, tuple[otel.Link, ...]]:
    if active.is_valid and active.trace_id == trace_id:
        return active, _links(known)
    others = (otel.Link(active),) if active.is_valid else ()
    if isinstance(known, TraceParent) and known.span_id:
        return remote(trace_id, int(known.span_id, 16), sampled=known.is_sampled), others
    return None, (*_links(known), *others)


def _links(known: object) -> tuple[otel.Link, ...]:
    if not isinstance(known, TraceLink) or not known.parent.span_id:
        return ()
    parent = known.parent
    return (otel.Link(remote(int(parent.trace_id, 16), int(parent.span_id, 16), sampled=parent.is_sampled)),)
