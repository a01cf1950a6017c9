"""OpenTelemetry in the reference project: on when an OTLP endpoint is named, else not even imported.

The variables are OpenTelemetry's own: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME and the others that it documents.
"""

import os
from importlib import import_module

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_QUIET = "metrics/,health/"
"""Pages that machines ask for all the time, and that are not worth a trace."""


def is_wanted() -> bool:
    """Whether the environment names a collector, and does not switch OpenTelemetry off."""
    is_off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not is_off and any(os.environ.get(name) for name in _ENDPOINTS)


def start() -> bool:
    """Send spans of requests, messages and calls to the collector. Once per process, before Django makes its handler.

    Returns whether it did. Processes that a worker forks later export by themselves.
    """
    trace = import_module("opentelemetry.trace") if is_wanted() else None
    if trace is None or not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return False
    otlp = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    provider = import_module("apcore.telemetry.export").exporting_provider(otlp.OTLPSpanExporter())
    trace.set_tracer_provider(provider)
    import_module("opentelemetry.instrumentation.django").DjangoInstrumentor().instrument(excluded_urls=_QUIET)
    import_module("opentelemetry.instrumentation.celery").CeleryInstrumentor().instrument()
    return True
