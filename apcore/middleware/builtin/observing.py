"""The four built-in middlewares that watch calls, as the configuration says (§11.4, C-09)."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any, Final

from apcore.middleware.base import Middleware
from apcore.middleware.builtin.error_wrapper import ErrorWrapperMiddleware
from apcore.middleware.builtin.logging import LoggingMiddleware
from apcore.telemetry.settings import ObservabilitySettings

PRIORITIES: Final = {"tracing": 950, "logging": 900, "metrics": 890, "error_wrapper": 800}


class SwitchedOff(Middleware):
    """Holds the place of a built-in whose switch is off; it has no hook of its own, so calls pass it for nothing."""

    def __init__(self, id: str) -> None:  # noqa: A002 - the protocol's word (§11.2)
        self.id = id  # type: ignore[misc]  # of this one, which stands for another class
        self.priority = PRIORITIES[id]


def observing(settings: ObservabilitySettings, *, tracing: Any = None, metrics: Any = None) -> tuple[Any, ...]:
    """`tracing`, `logging`, `metrics` and `error_wrapper`, outermost first.

    ``tracing`` is a `TracingProvider` and ``metrics`` a `MetricsCollector`, None where the switch is off.
    """
    keys = settings.sensitive_keys
    return (
        _built_in("tracing", "TracingMiddleware", tracing),
        LoggingMiddleware(keys) if settings.logging.enabled else SwitchedOff("logging"),
        _built_in("metrics", "MetricsMiddleware", metrics),
        ErrorWrapperMiddleware(keys),
    )


def make_tracing(settings: ObservabilitySettings, provider: Any = None, *, exports: bool = True) -> Any:
    """The `TracingProvider` that the settings ask for, None if none: then OpenTelemetry is not even imported.

    Spans go to ``provider``, else to the global provider of the process, else, with ``exports``, where
    ``tracing.exporter`` says.
    """
    if not (settings.enabled and settings.tracing.is_on):
        return None
    fallback = None
    if exports:
        fallback = partial(
            import_module("apcore.telemetry.export").provider_from, sensitive_keys=settings.sensitive_keys
        )
    return import_module("apcore.telemetry.tracing").TracingProvider(settings.tracing, provider, fallback=fallback)


def make_metrics(settings: ObservabilitySettings) -> Any:
    """The `MetricsCollector` that the settings ask for, None if none: then its library is not even imported."""
    if not (settings.enabled and settings.metrics.enabled):
        return None
    return import_module("apcore.telemetry.metrics").MetricsCollector()


def _built_in(id: str, name: str, part: Any) -> Any:  # noqa: A002 - the protocol's word (§11.2)
    if part is None:
        return SwitchedOff(id)
    return getattr(import_module(f"apcore.middleware.builtin.{id}"), name)(part)
