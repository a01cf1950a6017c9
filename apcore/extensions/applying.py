"""Extensions put into force in a registry and an executor (§11.3)."""

from __future__ import annotations

from apcore.errors import require
from apcore.execution import Executor
from apcore.execution.exporting import trace_to
from apcore.extensions.manager import ExtensionManager
from apcore.registry import Registry


def apply_extensions(
    manager: ExtensionManager, registry: Registry, executor: Executor | None = None, *, traces: bool = True
) -> None:
    """Put what ``manager`` has in the place of what is there; where it has nothing, what is there stays.

    Without ``traces`` span exporters are left to the caller.

    Raises InvalidInputError for middleware whose ID is taken, ConfigError for a span exporter without OpenTelemetry's
    SDK.
    """
    require("manager", manager, ExtensionManager, "an ExtensionManager")
    require("registry", registry, Registry, "a Registry")
    discoverer = manager.resolved("discoverer")
    if discoverer is not None:
        registry.extended.discoverer = discoverer
    validators = manager.get_all("module_validator")
    if validators:
        registry.extended.validators = tuple(validators)
    if executor is None:
        return
    for point in ("acl", "approval_handler"):
        implementation = manager.resolved(point)
        if implementation is not None:
            executor.extend(point, implementation)
    for extension in manager.registered("middleware"):
        own = getattr(extension.implementation, "priority", None)
        executor.use(extension.implementation, priority=None if own == extension.priority else extension.priority)
    exporters = manager.get_all("span_exporter")
    if exporters and traces:
        trace_to(executor, exporters)
