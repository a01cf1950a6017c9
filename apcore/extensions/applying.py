"""Extensions put into force in a registry and an executor (§11.3)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from apcore.execution import Executor
from apcore.extensions.manager import ExtensionManager
from apcore.registry import Registry
from apcore.telemetry.settings import TracingSettings

_SENDS_OVER_THE_NETWORK: Final = "opentelemetry.exporter."


def apply_extensions(
    manager: ExtensionManager, registry: Registry, executor: Executor | None = None, *, traces: bool = True
) -> None:
    """Put what ``manager`` has in the place of what is there; where it has nothing, what is there stays.

    Without ``traces`` span exporters are left to the caller.

    Raises InvalidInputError for middleware whose ID is taken, ConfigError for a span exporter without OpenTelemetry's
    SDK.
    """
    discoverer = manager.resolved("discoverer")
    if discoverer is not None:
        registry.extended.discoverer = discoverer
    validators = manager.get_all("module_validator")
    if validators:
        registry.extended.validators = tuple(validators)
    if executor is None:
        return
    acl, handler = manager.resolved("acl"), manager.resolved("approval_handler")
    if acl is not None:
        executor.use_acl(acl)
    if handler is not None:
        executor.use_approval_handler(handler)
    for extension in manager.registered("middleware"):
        own = getattr(extension.implementation, "priority", None)
        executor.use(extension.implementation, priority=None if own == extension.priority else extension.priority)
    exporters = manager.get_all("span_exporter")
    if exporters and traces:
        _trace(executor, exporters)


def provider_for(exporters: Sequence[Any]) -> Any:
    """A tracer provider that hands spans to ``exporters``. Raises ConfigError where the SDK is not installed.

    Exporters that come with OpenTelemetry send over the network and get spans in batches, from a thread of their own;
    others get each one when it ends.
    """
    batch = any(type(each).__module__.startswith(_SENDS_OVER_THE_NETWORK) for each in exporters)
    return import_module("apcore.telemetry.export").exporting_provider(*exporters, batch=batch)


def _trace(executor: Executor, exporters: Sequence[Any]) -> None:
    provider = import_module("apcore.telemetry.tracing").TracingProvider(
        TracingSettings(enabled=True), provider_for(exporters)
    )
    if any(entry.id == "tracing" for entry in executor.middleware):
        executor.remove("tracing")
    executor.use(import_module("apcore.middleware.builtin.tracing").TracingMiddleware(provider))
