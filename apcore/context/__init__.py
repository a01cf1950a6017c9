"""Who calls, through which chain, under which trace (§5.7)."""

from apcore.context.cancel import CancelToken
from apcore.context.context import Context
from apcore.context.factory import ContextFactory
from apcore.context.identity import Identity
from apcore.context.trace import TraceParent, is_trace_id, new_trace_id, parse_traceparent

__all__ = [
    "CancelToken",
    "Context",
    "ContextFactory",
    "Identity",
    "TraceParent",
    "is_trace_id",
    "new_trace_id",
    "parse_traceparent",
]
