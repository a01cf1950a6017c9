"""Who calls, through which chain, under which trace (§5.7)."""

from apcore.context.cancel import CancelToken, is_cancelled_from_outside, pass_on_cancellation, tells_to_stop
from apcore.context.context import Context, is_rehearsal
from apcore.context.factory import ContextFactory
from apcore.context.identity import Identity
from apcore.context.trace import (
    TraceLink,
    TraceParent,
    is_trace_id,
    new_span_id,
    new_trace_id,
    parse_traceparent,
)

__all__ = [
    "CancelToken",
    "Context",
    "ContextFactory",
    "Identity",
    "TraceLink",
    "TraceParent",
    "is_cancelled_from_outside",
    "is_rehearsal",
    "is_trace_id",
    "new_span_id",
    "new_trace_id",
    "parse_traceparent",
    "pass_on_cancellation",
    "tells_to_stop",
]
