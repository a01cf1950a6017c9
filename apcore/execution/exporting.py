"""Spans of an executor for exporters that somebody brings (§11.3)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from apcore.telemetry.settings import TracingSettings

_SENDS_OVER_THE_NETWORK: Final = "opentelemetry.exporter."


def provider_for(exporters: Sequence[Any]) -> Any:
    """A tracer provider that hands spans to ``exporters``. Raises ConfigError where the SDK is not installed.

    Exporters that come with OpenTelemetry send over the network and get spans in batches, from a thread of their own;
    others get each one when it ends.
    """
    batch = any(type(each).__module__.startswith(_SENDS_OVER_THE_NETWORK) for each in exporters)
    return import_module("apcore.telemetry.export").exporting_provider(*exporters, batch=batch)


def trace_to(executor: Any, exporters: Sequence[Any]) -> None:
    """Have the calls of ``executor`` traced to ``exporters``, and no longer to where they went before."""
    provider = import_module("apcore.telemetry.tracing").TracingProvider(
        TracingSettings(enabled=True), provider_for(exporters)
    )
    if any(entry.id == "tracing" for entry in executor.middleware):
        executor.remove("tracing")
    executor.use(import_module("apcore.middleware.builtin.tracing").TracingMiddleware(provider))
