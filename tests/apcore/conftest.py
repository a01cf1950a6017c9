"""OpenTelemetry's SDK with an exporter in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def sdk(exporter: InMemorySpanExporter) -> Iterator[TracerProvider]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider
    provider.shutdown()


Spans = Callable[..., list[ReadableSpan]]


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Spans:
    """The finished spans of a name with these attributes, in the order in which they ended."""

    def finished(name: str | None = None, **attributes: Any) -> list[ReadableSpan]:
        return [
            span
            for span in exporter.get_finished_spans()
            if name in (None, span.name) and all(span.attributes.get(key) == each for key, each in attributes.items())
        ]

    return finished
