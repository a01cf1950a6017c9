"""Trace context on its way in and out of a process (§10.1, §10.5). OpenTelemetry is not imported for it."""

from __future__ import annotations

import sys
from typing import Any

from apcore.context import Context, TraceParent


def traceparent_of(context: Context) -> TraceParent | None:
    """What goes into an outgoing ``traceparent`` header: the traced call, else the active span of its trace, else None.

    Its ``to_header()`` is the header.
    """
    span = getattr(context.span, "context", None)
    if span is not None:
        return _as_parent(span)
    active = active_span()
    if active is not None and active.trace_id == context.trace_id:
        return active
    return context.span if isinstance(context.span, TraceParent) and context.span.span_id else None


def active_span() -> TraceParent | None:
    """OpenTelemetry's active span, None if there is none; nobody has one who did not import its API."""
    api: Any = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    span = api.get_current_span().get_span_context()
    return _as_parent(span) if span.is_valid else None


def _as_parent(span: Any) -> TraceParent:
    return TraceParent(f"{span.trace_id:032x}", f"{span.span_id:016x}", f"{int(span.trace_flags) & 0xFF:02x}")
