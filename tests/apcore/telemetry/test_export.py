from __future__ import annotations

import json

import pytest
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from apcore.context import Context
from apcore.errors import ConfigError
from apcore.middleware.builtin.observing import make_tracing
from apcore.telemetry import export
from apcore.telemetry.export import exporting_provider, provider_from
from apcore.telemetry.settings import ObservabilitySettings, TracingSettings
from apcore.telemetry.tracing import TracingProvider


class Shelf(SpanExporter):
    def __init__(self) -> None:
        self.spans: list[object] = []

    def export(self, spans):
        self.spans += spans
        return SpanExportResult.SUCCESS


@pytest.mark.req("R-12.3-02")
@pytest.mark.parametrize("batch", [True, False])
def test_any_exporter_of_opentelemetry_gets_the_spans(batch):
    first, second = Shelf(), Shelf()
    provider = exporting_provider(first, second, batch=batch)
    tracing = TracingProvider(provider=provider)
    tracing.end_span(tracing.start_span("apcore.module.execute", Context.create()))
    provider.shutdown()
    assert [span.name for span in first.spans] == [span.name for span in second.spans] == ["apcore.module.execute"]


def test_stdout_is_the_default(capsys):
    tracing = TracingProvider(TracingSettings(enabled=True), fallback=provider_from)
    tracing.end_span(tracing.start_span("apcore.module.execute", Context.create()))
    assert json.loads(capsys.readouterr().out)["name"] == "apcore.module.execute"
    assert tracing.exporting is not None


def test_in_memory():
    provider = provider_from(TracingSettings(enabled=True, exporter="in_memory"))
    assert provider is not None


def test_who_has_a_provider_gets_no_other(sdk, spans):
    tracing = TracingProvider(TracingSettings(enabled=True), sdk, fallback=provider_from)
    tracing.end_span(tracing.start_span("a", Context.create()))
    assert tracing.exporting is None
    assert len(spans("a")) == 1


def test_without_the_sdk_it_is_said_what_to_install(monkeypatch):
    def missing(name: str):
        raise ImportError(name)

    monkeypatch.setattr(export, "import_module", missing)
    with pytest.raises(ConfigError, match=r"\[opentelemetry\]"):
        provider_from(TracingSettings(enabled=True))


@pytest.mark.req("R-10.6-01")
def test_what_others_put_into_their_spans_loses_its_credentials():
    shelf = Shelf()
    provider = exporting_provider(shelf, batch=False)
    tracer = provider.get_tracer("web")
    with tracer.start_as_current_span("harmless", attributes={"http.method": "GET", "n": 1}):
        tracer.start_span(
            "url", attributes={"http.url": "https://a:hunter2@b.org/?token=hunter2", "password": "hunter2"}
        ).end()
    with pytest.raises(ValueError, match="hunter2"), tracer.start_as_current_span("failing"):
        raise ValueError("password=hunter2")

    by_name = {span.name: span for span in shelf.spans}
    assert "hunter2" not in "".join(span.to_json() for span in shelf.spans)
    assert by_name["failing"].events[0].attributes["exception.type"] == "ValueError"
    assert by_name["harmless"].attributes == {"http.method": "GET", "n": 1}
    assert by_name["url"].parent.span_id == by_name["harmless"].context.span_id
    assert provider.force_flush()


def test_names_of_ones_own_and_texts_in_lists_are_hidden_too(capsys):
    values = {"tracing": {"enabled": True}, "redaction": {"sensitive_keys": ["iban"]}}
    tracing = make_tracing(ObservabilitySettings.from_mapping(values))
    span = tracing.start_span("apcore.module.execute", Context.create())
    span.made.set_attribute("url.full", "https://example.org/pay?iban=PT50")
    span.made.set_attribute("process.command_args", ["pay", "--iban=PT50", "password: hunter2"])
    tracing.end_span(span)
    told = capsys.readouterr().out
    assert "https://example.org/pay?iban=***REDACTED***" in told
    assert "PT50" not in told
    assert "hunter2" not in told
