"""What implementations of extension points look like, for type checkers and readers (§11.6).

The first four are what the points take; the last five are the interfaces of §11.6 under their own names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from apcore.acl import ACLChecker
from apcore.context import Context
from apcore.discovery import FoundModule
from apcore.modules import ModuleDefinition

__all__ = [
    "ACLChecker",
    "Discoverer",
    "Executor",
    "IDConverter",
    "ModuleLoader",
    "ModuleValidator",
    "SchemaLoader",
    "SpanExporter",
]


@runtime_checkable
class Discoverer(Protocol):
    """Point `discoverer`: finds modules."""

    def discover(self, config: Any) -> Iterable[FoundModule | tuple[str, Any]]:
        """Modules as pairs of ID and module; ``config`` is what `Registry.discover()` was given."""
        ...


@runtime_checkable
class ModuleValidator(Protocol):
    """Point `module_validator`: may refuse a module before it is loaded."""

    def validate(self, definition: ModuleDefinition) -> Iterable[str] | bool | None:
        """Objections in words; None, True or nothing admits the module, False and errors refuse it."""
        ...


@runtime_checkable
class SpanExporter(Protocol):
    """Point `span_exporter`: any exporter of OpenTelemetry's SDK."""

    def export(self, spans: Sequence[Any]) -> Any:
        """Take finished spans."""
        ...

    def shutdown(self) -> None:
        """Send what is left; the process ends."""
        ...


@runtime_checkable
class SchemaLoader(Protocol):
    """§11.6; here a `discoverer` brings schemas with the modules."""

    priority: int

    def load(self, module_id: str) -> Any: ...

    def supports(self, module_id: str) -> bool: ...


@runtime_checkable
class ModuleLoader(Protocol):
    """§11.6; here a `discoverer` brings modules."""

    priority: int

    def load(self, module_id: str) -> Any: ...

    def supports(self, file_path: str) -> bool: ...


@runtime_checkable
class IDConverter(Protocol):
    """§11.6; the functions `normalize_to_canonical_id` and `from_canonical` do this."""

    def to_canonical(self, local_id: str, language: str) -> str: ...

    def from_canonical(self, canonical_id: str, language: str) -> str: ...


@runtime_checkable
class Executor(Protocol):
    """§11.6; here a `Runner` runs modules elsewhere or otherwise."""

    def execute(self, module: Any, method: str, inputs: Mapping[str, Any], context: Context) -> Mapping[str, Any]: ...
