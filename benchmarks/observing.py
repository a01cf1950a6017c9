"""What watching adds to a call: nothing when it is off, and how much when it is on."""

import io
import logging
from collections.abc import Iterator

from opentelemetry.sdk.trace import TracerProvider

from apcore import Executor
from apcore.middleware.builtin.logging import LoggingMiddleware
from apcore.middleware.builtin.metrics import MetricsMiddleware
from apcore.middleware.builtin.observing import observing
from apcore.middleware.builtin.tracing import TracingMiddleware
from apcore.telemetry.logs import JsonFormatter
from apcore.telemetry.metrics import MetricsCollector
from apcore.telemetry.settings import ObservabilitySettings, TracingSettings
from apcore.telemetry.tracing import TracingProvider
from benchmarks.calls import make_executor
from benchmarks.timing import Measurement, Settings, seconds_of_each

PLAIN = "call, nothing installed"
_INPUTS = {"a": 1, "b": 2}


def cases(settings: Settings) -> Iterator[Measurement]:
    """Calls of a trivial module without access list, so that what is added stands out."""

    def measured(name: str, executor: Executor) -> Measurement:
        seconds = seconds_of_each({name: lambda: executor.call("bench.add", _INPUTS)}, settings)
        return Measurement(name, seconds[name], "" if name == PLAIN else PLAIN)

    yield measured(PLAIN, _with())
    off = ObservabilitySettings.from_mapping({"logging": {"enabled": False}})
    yield measured("all four installed and switched off", _with(*observing(off)[:3]))
    yield measured("metrics", _with(MetricsMiddleware(MetricsCollector())))
    with QuietLog() as logger:
        logger.setLevel(logging.WARNING)
        yield measured("logging, level warn", _with(LoggingMiddleware()))
        logger.setLevel(logging.INFO)
        yield measured("logging, one JSON line", _with(LoggingMiddleware()))
    for name, strategy, rate in (
        ("tracing, trace dropped", "proportional", 1e-9),
        ("tracing, error_first, held and let go", "error_first", 0.0),
        ("tracing, five spans recorded by the SDK", "full", 1.0),
    ):
        provider = TracingProvider(TracingSettings(True, strategy, rate), TracerProvider())
        yield measured(name, _with(TracingMiddleware(provider)))


def _with(*middlewares: object) -> Executor:
    executor = make_executor(None)
    for middleware in middlewares:
        executor.use(middleware)
    return executor


class QuietLog:
    """The logger of calls, with a JSON formatter and nobody who reads it."""

    def __enter__(self) -> logging.Logger:
        self.logger = logging.getLogger("apcore.calls")
        self.handler = logging.StreamHandler(io.StringIO())
        self.handler.setFormatter(JsonFormatter())
        self.logger.addHandler(self.handler)
        self.logger.propagate = False
        return self.logger

    def __exit__(self, *exc: object) -> None:
        self.logger.removeHandler(self.handler)
        self.logger.setLevel(logging.NOTSET)
        self.logger.propagate = True
