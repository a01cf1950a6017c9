"""What is kept of the trace of a stored call."""

import pytest

from apcore.context import Context, TraceLink, TraceParent
from django_apcore.services._calls import restored_context, stored_context

PARENT = TraceParent("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "01")


@pytest.mark.req("R-10.1-03", "R-10.5-09")
def test_the_span_that_asked_is_kept_and_linked_to() -> None:
    context = Context.create(trace_parent=PARENT.trace_id)
    context.span = PARENT
    stored = stored_context(context)
    assert stored["traceparent"] == "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    restored = restored_context(stored)
    assert (restored.trace_id, restored.span) == (PARENT.trace_id, TraceLink(PARENT))


def test_a_call_that_nobody_traced_has_none() -> None:
    stored = stored_context(Context.create())
    assert "traceparent" not in stored
    assert not isinstance(restored_context(stored).span, TraceLink)


@pytest.mark.parametrize("header", ["garbage", None, "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-00f067aa0ba902b7-01"])
def test_what_does_not_belong_to_the_trace_is_left_out(header: str | None) -> None:
    stored = {**stored_context(Context.create()), "traceparent": header}
    assert not isinstance(restored_context(stored).span, TraceLink)
