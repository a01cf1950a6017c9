"""Tracer providers for those who have none: OpenTelemetry's SDK with one exporter (§9.15.2)."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from opentelemetry.trace import TracerProvider

from apcore.errors import ConfigError
from apcore.telemetry.settings import TracingSettings


def exporting_provider(*exporters: Any, batch: bool = True) -> TracerProvider:
    """The SDK's provider, which hands finished spans to these exporters: any OpenTelemetry `SpanExporter` (§11.3).

    With ``batch`` they are sent from a thread of the exporter's own, and the rest when the process ends. Raises
    ConfigError where the SDK is not installed.
    """
    sdk, export = _sdk("opentelemetry.sdk.trace"), _sdk("opentelemetry.sdk.trace.export")
    provider: TracerProvider = sdk.TracerProvider()
    for exporter in exporters:
        make = export.BatchSpanProcessor if batch else export.SimpleSpanProcessor
        provider.add_span_processor(make(exporter))  # type: ignore[attr-defined]  # the API's type has it not
    return provider


def provider_from(settings: TracingSettings) -> TracerProvider:
    """The provider for ``exporter`` and ``otlp_endpoint``. Raises ConfigError where the SDK is not installed.

    Jaeger takes OTLP, so both names mean the same; without an endpoint OpenTelemetry's own variables count.
    """
    match settings.exporter:
        case "otlp" | "jaeger":
            otlp = _sdk("opentelemetry.exporter.otlp.proto.http.trace_exporter")
            endpoint = {"endpoint": settings.otlp_endpoint} if settings.otlp_endpoint else {}
            return exporting_provider(otlp.OTLPSpanExporter(**endpoint))
        case "in_memory":
            memory = _sdk("opentelemetry.sdk.trace.export.in_memory_span_exporter")
            return exporting_provider(memory.InMemorySpanExporter(), batch=False)
        case _:
            return exporting_provider(
                _sdk("opentelemetry.sdk.trace.export").ConsoleSpanExporter(out=sys.stdout), batch=False
            )


def _sdk(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ConfigError(
            "Exporting spans needs OpenTelemetry's SDK: install django-apcore-governance[opentelemetry], or switch "
            "observability.tracing.enabled off"
        ) from error
