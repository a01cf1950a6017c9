"""Tracer providers for those who have none: OpenTelemetry's SDK with one exporter (§9.15.2)."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from opentelemetry.trace import Status, TracerProvider

from apcore.errors import ConfigError
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, redact, redact_text
from apcore.telemetry.settings import TracingSettings

_TEXTS_OF_EXCEPTIONS: Final = frozenset({"exception.message", "exception.stacktrace"})


def exporting_provider(
    *exporters: Any, batch: bool = True, sensitive_keys: Collection[str] = DEFAULT_SENSITIVE_KEYS
) -> TracerProvider:
    """The SDK's provider, which hands finished spans to these exporters: any OpenTelemetry `SpanExporter` (§11.3).

    What other instrumentation put into a span, of URLs and exceptions for example, loses its credentials and the values
    of ``sensitive_keys`` on the way. With ``batch`` spans are sent from a thread of the exporter's own, and the rest
    when the process ends. Raises ConfigError where the SDK is not installed.
    """
    sdk, export = _sdk("opentelemetry.sdk.trace"), _sdk("opentelemetry.sdk.trace.export")
    provider: TracerProvider = sdk.TracerProvider()
    for exporter in exporters:
        make = export.BatchSpanProcessor if batch else export.SimpleSpanProcessor
        provider.add_span_processor(make(SafeExporter(exporter, sensitive_keys)))  # type: ignore[attr-defined]  # the API's type has it not
    return provider


def provider_from(
    settings: TracingSettings, sensitive_keys: Collection[str] = DEFAULT_SENSITIVE_KEYS
) -> TracerProvider:
    """The provider for ``exporter`` and ``otlp_endpoint``. Raises ConfigError where the SDK is not installed.

    Jaeger takes OTLP, so both names mean the same; without an endpoint OpenTelemetry's own variables count.
    """
    match settings.exporter:
        case "otlp" | "jaeger":
            otlp = _sdk("opentelemetry.exporter.otlp.proto.http.trace_exporter")
            endpoint = {"endpoint": settings.otlp_endpoint} if settings.otlp_endpoint else {}
            return exporting_provider(otlp.OTLPSpanExporter(**endpoint), sensitive_keys=sensitive_keys)
        case "in_memory":
            memory = _sdk("opentelemetry.sdk.trace.export.in_memory_span_exporter")
            return exporting_provider(memory.InMemorySpanExporter(), batch=False, sensitive_keys=sensitive_keys)
        case _:
            console = _sdk("opentelemetry.sdk.trace.export").ConsoleSpanExporter(out=_StandardOutput())
            return exporting_provider(console, batch=False, sensitive_keys=sensitive_keys)


class _StandardOutput:
    """What is standard output when a span ends: a command that prints an answer there puts it elsewhere meanwhile."""

    def write(self, text: str) -> int:
        return sys.stdout.write(text)

    def flush(self) -> None:
        sys.stdout.flush()


class SafeExporter:
    """A `SpanExporter` in front of another one: credentials are hidden, texts and tracebacks of exceptions left out."""

    def __init__(self, exporter: Any, sensitive_keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> None:
        self._exporter = exporter
        self._keys = frozenset(sensitive_keys)
        self._trace = _sdk("opentelemetry.sdk.trace")

    def export(self, spans: Sequence[Any]) -> Any:
        """Hand on the spans, as they are or as copies."""
        return self._exporter.export([self._safe(span) for span in spans])

    def shutdown(self) -> None:
        """As the exporter behind it."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """As the exporter behind it."""
        return bool(self._exporter.force_flush(timeout_millis))

    def _safe(self, span: Any) -> Any:
        attributes, told = self._texts(span.attributes or {}), span.status.description or ""
        events = tuple(self._event(event) for event in span.events)
        status = span.status if redact_text(told, self._keys) == told else Status(span.status.status_code)
        if attributes == dict(span.attributes or {}) and events == tuple(span.events) and status is span.status:
            return span
        return self._trace.ReadableSpan(
            name=span.name,
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=attributes,
            events=events,
            links=span.links,
            kind=span.kind,
            status=status,
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )

    def _event(self, event: Any) -> Any:
        given = event.attributes or {}
        kept = self._texts({name: value for name, value in given.items() if name not in _TEXTS_OF_EXCEPTIONS})
        return event if kept == dict(given) else self._trace.Event(event.name, kept, event.timestamp)

    def _texts(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        hidden = redact(dict(attributes), None, self._keys)
        return {name: self._text(each) for name, each in hidden.items()}

    def _text(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return tuple(self._text(each) for each in value)
        return redact_text(value, self._keys) if isinstance(value, str) else value


def _sdk(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ConfigError(
            "Exporting spans needs OpenTelemetry's SDK: install django-apcore-governance[opentelemetry], or switch "
            "observability.tracing.enabled off"
        ) from error
