from __future__ import annotations

import random

import pytest
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider

from apcore.context import Context
from apcore.errors import ModuleNotFoundError
from apcore.telemetry import trace as traces
from apcore.telemetry.ids import Spans
from apcore.telemetry.sampling import Sampler
from apcore.telemetry.settings import TracingSettings
from apcore.telemetry.tracing import TracingProvider


@pytest.mark.req("R-12.2-35")
def test_a_span_is_started_in_a_context_and_ended_with_attributes(sdk, spans):
    provider, context = TracingProvider(provider=sdk), Context.create()
    span = provider.start_span("apcore.module.execute", context)
    provider.end_span(span, {"module_id": "m.one", "method": "describe"})

    [finished] = spans("apcore.module.execute")
    assert otel.format_trace_id(finished.context.trace_id) == context.trace_id
    assert finished.attributes["module_id"] == "m.one"
    assert finished.attributes["method"] == "describe"
    assert finished.attributes["success"] is True
    assert finished.attributes["duration_ms"] >= 0


def test_a_failed_span_has_the_code_of_its_error(sdk, spans):
    provider = TracingProvider(provider=sdk)
    with pytest.raises(ModuleNotFoundError), provider.span("a", Context.create(), {}):
        raise ModuleNotFoundError("secret")
    with pytest.raises(ValueError, match="secret"), provider.span("b", Context.create(), {}):
        raise ValueError("secret")
    assert [span.attributes["error_code"] for span in spans()] == ["MODULE_NOT_FOUND", "GENERAL_INTERNAL_ERROR"]


def test_a_context_without_a_usable_trace_id_is_not_traced(sdk, spans):
    context = Context("no trace ID")
    provider = TracingProvider(provider=sdk)
    provider.end_span(provider.start_span("a", context))
    assert spans() == []


def test_where_ids_cannot_be_given_the_trace_is_kept_by_a_parent(sdk):
    class Foreign:
        """A tracer of somebody else, without an ID generator to replace."""

        def __init__(self) -> None:
            self.inner = sdk.get_tracer("foreign")

        def start_span(self, *arguments, **options):
            return self.inner.start_span(*arguments, **options)

    made = Spans(Foreign()).start("a", 0xABC, None)
    assert made.get_span_context().trace_id == 0xABC
    assert made.parent.trace_id == 0xABC


def test_ids_of_others_stay_random_on_the_same_provider(sdk):
    spans = Spans(sdk.get_tracer("apcore"))
    given = spans.start("a", 7, None, span_id=8).get_span_context()
    assert (given.trace_id, given.span_id) == (7, 8)
    again = Spans(sdk.get_tracer("apcore")).start("b", 9, None).get_span_context()
    assert again.trace_id == 9
    assert again.span_id != 8
    assert sdk.get_tracer("other").start_span("c").get_span_context().trace_id not in (7, 9)


@pytest.mark.req("R-10.7-02")
@pytest.mark.parametrize("strategy", ["proportional", "full"])
def test_a_share_of_the_traces(strategy):
    draw = random.Random(7)
    sampler = Sampler(strategy, 0.1)
    decisions = [sampler.decide(f"{draw.getrandbits(128):032x}") for _ in range(10_000)]
    assert 0.08 <= decisions.count("record") / 10_000 <= 0.12
    assert {*decisions} == {"record", "drop"}


def test_the_same_trace_is_decided_the_same_everywhere_and_more_at_a_higher_rate():
    ids = [f"{n * 2**117 + n * 2**49:032x}" for n in range(1, 1000)]
    few, many = Sampler("proportional", 0.2), Sampler("error_first", 0.5)
    assert [few.decide(each) for each in ids] == [Sampler("full", 0.2).decide(each) for each in ids]
    assert all(many.decide(each) == "record" for each in ids if few.decide(each) == "record")
    assert {many.decide(each) for each in ids} == {"record", "hold"}


def test_the_ends_of_the_rate():
    assert Sampler("full", 1.0).decide("f" * 31 + "e") == "record"
    assert Sampler("proportional", 0.0).decide("0" * 31 + "1") == "drop"
    assert Sampler("error_first", 0.0).decide("0" * 31 + "1") == "hold"
    assert Sampler("off", 1.0).decide("0" * 31 + "1") == "drop"


class TestHeldTraces:
    @pytest.fixture
    def provider(self, sdk: TracerProvider) -> TracingProvider:
        return TracingProvider(TracingSettings(True, "error_first", 0.0), sdk)

    def test_only_so_many_spans_are_kept(self, provider, spans, monkeypatch):
        monkeypatch.setattr(traces, "MOST_HELD", 3)
        context = Context.create()
        with provider.span("root", context, {}) as root:
            context.span = root
            for number in range(10):
                provider.end_span(provider.start_span(f"child {number}", context))
            provider.end_span(provider.start_span("failing", context), error=ValueError())
        [kept] = spans("root")
        assert kept.attributes["apcore.spans_left_out"] == 8
        assert len(spans()) == 4

    @pytest.mark.parametrize(("error", "recorded"), [(None, 0), (ValueError(), 2)])
    def test_a_span_that_outlives_its_root(self, provider, spans, error, recorded):
        context = Context.create()
        root = context.span = provider.start_span("root", context)
        late = provider.start_span("late", context)
        provider.end_span(root, error=error)
        provider.end_span(late)
        assert len(spans()) == recorded

    def test_others_see_a_trace_that_is_not_sampled(self, provider, sdk, spans):
        with provider.span("root", Context.create(), {}):
            active = otel.get_current_span().get_span_context()
            assert not active.trace_flags.sampled
            sdk.get_tracer("other").start_span("theirs").end()
        assert spans() == []


def test_a_provider_that_comes_later_is_found(sdk, spans, monkeypatch):
    provider = TracingProvider()
    assert provider.start_span("a", Context.create()) is None
    monkeypatch.setattr(otel, "get_tracer_provider", lambda: sdk)
    provider.end_span(provider.start_span("b", Context.create()))
    assert [span.name for span in spans()] == ["b"]
