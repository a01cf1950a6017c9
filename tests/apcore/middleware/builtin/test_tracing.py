from __future__ import annotations

import asyncio
import re
import threading
from typing import Any

import pytest
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import StatusCode

from apcore import ACL, Context, Executor, Module, Registry, module
from apcore.approval import ApprovalResult, CallbackApprovalHandler
from apcore.context import TraceLink, TraceParent
from apcore.errors import ACLDeniedError, ApprovalPendingError, ModuleError
from apcore.middleware.builtin.tracing import TracingMiddleware
from apcore.modules import ModuleAnnotations
from apcore.telemetry.propagation import active_span, traceparent_of
from apcore.telemetry.settings import TracingSettings
from apcore.telemetry.tracing import TracingProvider

HEX_16 = re.compile(r"[0-9a-f]{16}")
EXECUTE = "apcore.module.execute"


@module(id="m.leaf")
def leaf(n: int) -> int:
    """End the chain, or fail."""
    if n < 0:
        raise ValueError(f"the secret is {n}")
    return n


@module(id="m.middle")
def middle(context: Context, n: int) -> int:
    """Call the leaf."""
    return int(context.executor.call("m.leaf", {"n": n}, context)["result"])


@module(id="m.tolerant")
def tolerant(context: Context, n: int) -> int:
    """Call the leaf, and survive its failure."""
    try:
        return int(context.executor.call("m.leaf", {"n": n}, context)["result"])
    except ModuleError:
        return 0


@module(id="m.root")
async def root(context: Context, n: int) -> int:
    """Call the middle from a coroutine."""
    return int((await context.executor.call_async("m.middle", {"n": n}, context))["result"])


@module(id="m.threads")
def threads(context: Context, n: int) -> int:
    """Call the leaf from a thread that knows nothing but the context."""
    thread = threading.Thread(target=lambda: context.executor.call("m.leaf", {"n": n}, context))
    thread.start()
    thread.join()
    return n


class Own(Module):
    """A module that has spans of its own."""

    description = "Trace itself."
    input_schema = {"type": "object"}
    output_schema = {"type": "object"}

    def __init__(self, provider: TracerProvider) -> None:
        self.tracer = provider.get_tracer("own")

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        with self.tracer.start_as_current_span("own.work"):
            return dict(context.executor.call("m.leaf", {"n": 1}, context))


def executor_with(
    sdk: TracerProvider | None, *, acl: ACL | None = None, handler: Any = None, **settings: Any
) -> Executor:
    registry = Registry()
    for each in (leaf, middle, tolerant, root, threads):
        registry.register(each.id, each)
    tracing = TracingProvider(TracingSettings(enabled=True, **settings), sdk)
    return Executor(registry, acl=acl, approval_handler=handler, middlewares=[TracingMiddleware(tracing)])


def hexed(span: Any) -> tuple[str, str, str | None]:
    parent = otel.format_span_id(span.parent.span_id) if span.parent else None
    return otel.format_trace_id(span.context.trace_id), otel.format_span_id(span.context.span_id), parent


@pytest.mark.req("R-10.1-01", "R-10.1-02", "R-10.5-02")
def test_spans_of_a_chain_hang_on_each_other_in_the_trace_of_the_context(sdk, spans):
    context = Context.create()
    executor_with(sdk).call("m.root", {"n": 1}, context)

    by_module = {span.attributes["module_id"]: hexed(span) for span in spans(EXECUTE)}
    assert {trace_id for trace_id, _, _ in by_module.values()} == {context.trace_id}
    assert by_module["m.root"][2] is None
    assert by_module["m.middle"][2] == by_module["m.root"][1]
    assert by_module["m.leaf"][2] == by_module["m.middle"][1]
    for span in spans():
        _, span_id, parent_id = hexed(span)
        assert HEX_16.fullmatch(span_id)
        assert parent_id is None or HEX_16.fullmatch(parent_id)


def test_the_same_from_coroutines(sdk, spans):
    context = Context.create()

    async def both() -> None:
        executor = executor_with(sdk)
        await asyncio.gather(*(executor.call_async("m.root", {"n": n}, context) for n in range(5)))

    asyncio.run(both())
    roots = [hexed(span)[1] for span in spans(EXECUTE, module_id="m.root")]
    parents = [hexed(span)[2] for span in spans(EXECUTE, module_id="m.middle")]
    assert sorted(parents) == sorted(roots)
    assert len(set(roots)) == 5
    assert {hexed(span)[0] for span in spans()} == {context.trace_id}


def test_a_bare_thread_that_has_only_the_context_stays_in_the_tree(sdk, spans):
    executor_with(sdk).call("m.threads", {"n": 1})
    [outer], [inner] = spans(EXECUTE, module_id="m.threads"), spans(EXECUTE, module_id="m.leaf")
    assert hexed(inner)[2] == hexed(outer)[1]


def test_spans_of_the_modules_own_are_in_between(sdk, spans):
    executor = executor_with(sdk)
    executor.registry.register("m.own", Own(sdk))
    executor.call("m.own")
    [own], [called], [outer] = spans("own.work"), spans(EXECUTE, module_id="m.leaf"), spans(EXECUTE, module_id="m.own")
    assert hexed(own)[2] == hexed(outer)[1]
    assert hexed(called)[2] == hexed(own)[1]


@pytest.mark.req("R-10.8-01")
def test_the_names_of_a_traced_call(sdk, spans):
    executor = executor_with(sdk, acl=ACL([], "allow"))
    executor.call("m.leaf", {"n": 1})
    executor.validate("m.leaf", {"n": 1})
    assert {span.name for span in spans()} == {
        "apcore.module.execute",
        "apcore.module.validate",
        "apcore.acl.check",
        "apcore.middleware.before",
        "apcore.middleware.after",
        "apcore.schema.validate",
    }


@pytest.mark.req("R-10.1-04", "R-10.8-02", "R-10.8-03")
def test_what_every_span_says(sdk, spans):
    executor = executor_with(sdk, acl=ACL([], "allow"))
    executor.validate("m.middle", {"n": "no number"})
    with pytest.raises(ModuleError):
        executor.call("m.middle", {"n": -1})

    for span in spans():
        assert type(span.attributes["duration_ms"]) is float
        assert type(span.attributes["success"]) is bool
        assert span.attributes["method"] in ("execute", "validate")
        assert span.attributes["module_id"] in ("m.middle", "m.leaf")
        assert span.attributes["caller_id"] in ("@external", "m.middle")
    [inner] = spans(EXECUTE, module_id="m.leaf")
    assert (inner.attributes["success"], inner.attributes["error_code"]) == (False, "MODULE_EXECUTE_ERROR")
    assert inner.attributes["caller_id"] == "m.middle"
    assert inner.status.status_code is StatusCode.ERROR
    [check] = spans("apcore.module.validate")
    assert (check.attributes["valid"], check.attributes["error_count"], check.attributes["method"]) == (
        False,
        1,
        "validate",
    )


@pytest.mark.req("R-10.6-01")
def test_nothing_of_an_exception_is_in_its_span(sdk, spans):
    with pytest.raises(ModuleError):
        executor_with(sdk).call("m.leaf", {"n": -4711})
    told = [f"{span.attributes} {span.status.description} {span.events}" for span in spans()]
    assert len(told) >= 3
    assert not any("4711" in each or "secret" in each for each in told)


def test_a_refused_call_has_its_span(sdk, spans):
    with pytest.raises(ACLDeniedError):
        executor_with(sdk, acl=ACL([], "deny")).call("m.leaf", {"n": 1})
    [call], [check] = spans(EXECUTE), spans("apcore.acl.check")
    assert call.attributes["error_code"] == check.attributes["error_code"] == "ACL_DENIED"
    assert hexed(check)[2] == hexed(call)[1]


def test_what_is_no_module_id_is_not_told(sdk, spans):
    for wrong in ("Password=hunter2 ", 5, ""):
        with pytest.raises(ModuleError):
            executor_with(sdk).call(wrong)
    assert {span.attributes["module_id"] for span in spans(EXECUTE)} == {"(invalid)"}


# The two directions between contexts and OpenTelemetry


def test_an_active_span_decides_the_trace_of_a_new_context(sdk, spans):
    context = Context.create()
    with sdk.get_tracer("web").start_as_current_span("request") as request:
        executor_with(sdk).call("m.leaf", {"n": 1}, context)
        executor_with(sdk).call("m.leaf", {"n": 2})
    first, second = spans(EXECUTE)
    assert context.trace_id == otel.format_trace_id(request.get_span_context().trace_id)
    assert hexed(first)[0] == hexed(second)[0] == context.trace_id
    assert hexed(first)[2] == hexed(second)[2] == otel.format_span_id(request.get_span_context().span_id)


@pytest.mark.req("R-10.5-04")
def test_a_trace_id_that_was_given_stays_and_points_to_the_active_span(sdk, spans):
    context = Context.create(trace_parent="4bf92f3577b34da6a3ce929d0e0e4736")
    with sdk.get_tracer("web").start_as_current_span("request") as request:
        executor_with(sdk).call("m.leaf", {"n": 1}, context)
    [call] = spans(EXECUTE)
    assert hexed(call) == ("4bf92f3577b34da6a3ce929d0e0e4736", hexed(call)[1], None)
    assert [link.context.trace_id for link in call.links] == [request.get_span_context().trace_id]


@pytest.mark.parametrize(("flags", "recorded"), [("01", 1), ("00", 0)])
@pytest.mark.req("R-10.7-05")
def test_a_traceparent_is_continued_as_its_flags_say(sdk, spans, flags, recorded):
    context = Context.create(trace_parent="4bf92f3577b34da6a3ce929d0e0e4736")
    context.span = TraceParent(context.trace_id, "00f067aa0ba902b7", flags)
    executor_with(sdk).call("m.root", {"n": 1}, context)
    assert len(spans(EXECUTE, module_id="m.root")) == recorded
    assert all(hexed(span)[2] == "00f067aa0ba902b7" for span in spans(EXECUTE, module_id="m.root"))


def test_a_call_that_was_asked_for_earlier_is_linked_and_stays_in_the_trace(sdk, spans):
    earlier = TraceParent("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "01")
    context = Context.deserialize({"trace_id": earlier.trace_id})
    context.span = TraceLink(earlier)
    with sdk.get_tracer("worker").start_as_current_span("run") as worker:
        executor_with(sdk).call("m.leaf", {"n": 1}, context)
    [call] = spans(EXECUTE)
    assert hexed(call)[0] == earlier.trace_id
    assert call.parent is None
    assert [otel.format_span_id(link.context.span_id) for link in call.links] == [
        "00f067aa0ba902b7",
        otel.format_span_id(worker.get_span_context().span_id),
    ]


def test_what_goes_out_is_the_span_of_the_call(sdk, spans):
    sent: list[Any] = []

    @module(id="m.out")
    def out(context: Context) -> None:
        """Would call another service."""
        sent.append(traceparent_of(context))

    executor = executor_with(sdk)
    executor.registry.register("m.out", out)
    executor.call("m.out")
    [call] = spans(EXECUTE)
    assert sent[0].to_header() == f"00-{hexed(call)[0]}-{hexed(call)[1]}-{int(call.context.trace_flags):02x}"
    assert traceparent_of(Context.create()) is None
    assert active_span() is None
    with sdk.get_tracer("web").start_as_current_span("request"):
        assert traceparent_of(Context.create(trace_parent=active_span().trace_id)) == active_span()


# Sampling


@pytest.mark.req("R-10.7-01")
def test_full_records_every_call(sdk, spans):
    executor = executor_with(sdk)
    for n in range(100):
        executor.call("m.leaf", {"n": n})
    assert len({span.context.trace_id for span in spans(EXECUTE)}) == 100


@pytest.mark.req("R-10.7-04")
@pytest.mark.parametrize(
    "settings", [{"strategy": "off"}, {"sampling_rate": 0.0}, {"strategy": "proportional", "sampling_rate": 0}]
)
def test_off_records_nothing(sdk, spans, settings):
    executor = executor_with(sdk, **settings)
    for n in range(100):
        executor.call("m.tolerant", {"n": n - 50})
    assert spans() == []


@pytest.mark.req("R-10.7-05")
@pytest.mark.parametrize("strategy", ["full", "proportional"])
def test_a_trace_is_complete_or_absent(sdk, spans, strategy):
    executor = executor_with(sdk, strategy=strategy, sampling_rate=0.5)
    for n in range(60):
        executor.call("m.root", {"n": n})
    sizes = {len(spans(EXECUTE, module_id=name)) for name in ("m.root", "m.middle", "m.leaf")}
    assert len(sizes) == 1
    assert 0 < sizes.pop() < 60


@pytest.mark.req("R-10.7-03")
def test_error_first_records_the_whole_trace_of_a_failing_call(sdk, spans):
    executor = executor_with(sdk, strategy="error_first", sampling_rate=0.0)
    context = Context.create()
    for n in range(20):
        executor.call("m.root", {"n": n})
    assert spans() == []
    executor.call("m.tolerant", {"n": -1}, context)

    [outer], [inner] = spans(EXECUTE, module_id="m.tolerant"), spans(EXECUTE, module_id="m.leaf")
    assert hexed(outer)[0] == hexed(inner)[0] == context.trace_id
    assert (outer.parent, hexed(inner)[2]) == (None, hexed(outer)[1])
    assert outer.start_time <= inner.start_time <= inner.end_time <= outer.end_time
    assert inner.attributes["error_code"] == "MODULE_EXECUTE_ERROR"
    assert outer.attributes["success"]


@pytest.mark.req("R-10.7-03")
def test_error_first_records_its_share_of_successes(sdk, spans):
    executor = executor_with(sdk, strategy="error_first", sampling_rate=0.5)
    for n in range(60):
        executor.call("m.leaf", {"n": n})
    assert 0 < len(spans(EXECUTE)) < 60


def test_waiting_for_a_person_is_no_failure(sdk, spans):
    @module(id="m.gated", annotations=ModuleAnnotations(requires_approval=True))
    def gated() -> None:
        """Wait."""

    handler = CallbackApprovalHandler(lambda request: ApprovalResult("pending", approval_id="1"))
    for strategy, recorded in (("error_first", 0), ("full", 1)):
        executor = executor_with(sdk, handler=handler, strategy=strategy, sampling_rate=0.0 if not recorded else 1.0)
        executor.registry.register("m.gated", gated)
        with pytest.raises(ApprovalPendingError):
            executor.call("m.gated")
        assert len(spans(EXECUTE)) == recorded
    [call] = spans(EXECUTE)
    assert call.status.status_code is StatusCode.UNSET
    assert call.attributes["error_code"] == "APPROVAL_PENDING"


def test_without_an_sdk_contexts_stay_as_they_are():
    context = Context.create()
    trace_id = context.trace_id
    assert executor_with(None).call("m.root", {"n": 3}, context) == {"result": 3}
    assert (context.trace_id, context.span) == (trace_id, None)
    with otel.use_span(otel.NonRecordingSpan(otel.SpanContext(1, 1, is_remote=False))):
        executor_with(None).call("m.root", {"n": 3}, context)
    assert context.trace_id == trace_id


def test_a_call_after_the_middleware_was_taken_out_is_not_traced(sdk, spans):
    executor = executor_with(sdk)
    executor.remove("tracing")
    executor.call("m.leaf", {"n": 1})
    assert spans() == []


def test_a_step_that_was_replaced_is_traced_as_well(sdk, spans):
    seen: list[str] = []
    executor = executor_with(sdk)
    executor.configure_step("acl_check", lambda state: seen.append(state.module_id))
    executor.call("m.leaf", {"n": 1})
    asyncio.run(executor.call_async("m.leaf", {"n": 1}))
    assert seen == ["m.leaf", "m.leaf"]
    assert len(spans("apcore.acl.check")) == 2


@pytest.mark.parametrize("is_async", [False, True])
def test_a_stream_has_one_span_in_which_its_reader_is_not(sdk, spans, is_async):
    class Steps(Own):
        def stream(self, inputs, context):
            for number in range(2):
                with self.tracer.start_as_current_span("own.step"):
                    chunk = {str(number): number}
                yield chunk

    executor, seen = executor_with(sdk), []
    executor.registry.register("m.steps", Steps(sdk))

    async def read() -> None:
        async for _ in executor.stream("m.steps"):
            seen.append(active_span())

    if is_async:
        asyncio.run(read())
    else:
        seen.extend(active_span() for _ in executor.stream_sync("m.steps"))
    [call] = spans(EXECUTE)
    assert seen == [None, None]
    assert [hexed(span)[2] for span in spans("own.step")] == [hexed(call)[1]] * 2
    assert call.attributes["success"]
