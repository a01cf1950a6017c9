"""What serves the process may work in the course of a run, and is no effect of it."""

import logging
import logging.handlers
import socket
from collections.abc import Iterator

import pytest
import requests
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from django_apcore.effects import OutsideEffectError, governed
from tests.django_apcore.effects.runs import preview
from tests.django_apcore.provider import Provider

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

logger = logging.getLogger("tests.outside")


@pytest.fixture
def collector() -> Iterator[socket.socket]:
    """Who gets datagrams."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(10)
        yield receiver


def logging_to(handler: logging.Handler, lines: int = 1) -> bool:
    """Whether the record of a run that writes to such a log is complete."""

    def write() -> None:
        for _ in range(lines):
            logger.warning("to be told elsewhere")

    logger.addHandler(handler)
    try:
        return preview(write).complete
    finally:
        logger.removeHandler(handler)
        handler.close()


def test_a_line_of_the_log_may_leave_by_http(provider: Provider) -> None:
    assert logging_to(logging.handlers.HTTPHandler(provider.address, "/log"))
    assert provider.requests[0].startswith("/log?")


def test_a_line_of_the_log_may_leave_by_syslog(collector: socket.socket) -> None:
    assert logging_to(logging.handlers.SysLogHandler(collector.getsockname()))
    assert b"to be told elsewhere" in collector.recv(1000)


def test_a_line_of_the_log_may_leave_by_a_socket_of_its_own(provider: Provider) -> None:
    assert logging_to(logging.handlers.SocketHandler("127.0.0.1", provider.server_port), lines=2)
    assert provider.visits() == 1


class Exporter(SpanExporter):
    def __init__(self, url: str) -> None:
        self._url = url

    def export(self, spans: object) -> SpanExportResult:
        requests.post(self._url, data="spans", timeout=10)
        return SpanExportResult.SUCCESS


def test_a_span_may_be_exported_at_once(provider: Provider) -> None:
    traces = TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(Exporter(provider.url)))
    tracer = traces.get_tracer("tests")

    def write() -> None:
        with tracer.start_as_current_span("work"):
            pass

    assert preview(write).complete
    assert provider.requests == ["/charges"]
    traces.shutdown()


def test_what_a_span_surrounds_is_the_modules_own(provider: Provider) -> None:
    tracer = TracerProvider().get_tracer("tests")
    with governed(commit=False) as run, tracer.start_as_current_span("work"), pytest.raises(OutsideEffectError):
        requests.post(provider.url, timeout=10)
    assert not run.record.complete
