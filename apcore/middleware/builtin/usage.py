"""Counts every run of a module (§10.4)."""

from __future__ import annotations

from typing import ClassVar

from apcore.context import Context
from apcore.errors import ModuleError
from apcore.ids import is_reader
from apcore.middleware.builtin.timing import TimingMiddleware
from apcore.telemetry.outcomes import error_code_of, is_fault, is_waiting
from apcore.telemetry.usage import UsageCollector, caller_type_of


class UsageMiddleware(TimingMiddleware):
    """Records duration, kind of caller and outcome of every call that got as far as the module's inputs.

    A run that was undone because a person has to decide (``APPROVAL_PENDING``) is no call. Nor is a look at what is
    counted: ``system.health.*``, ``system.usage.*`` and ``system.manifest.*`` must not change what they show (§6.7).
    """

    id: ClassVar[str] = "usage"
    priority: int = 30

    def __init__(self, collector: UsageCollector) -> None:
        super().__init__()
        self._collector = collector

    def ended(self, module_id: str, context: Context, duration_ms: float, error: ModuleError | None) -> None:
        """Count it."""
        code = error_code_of(error)
        if is_waiting(code) or is_reader(module_id):
            return
        identity = context.identity
        self._collector.record(
            module_id,
            caller_type=caller_type_of(identity.type if identity else None),
            duration_ms=duration_ms,
            error_code=code,
            is_fault=error is not None and is_fault(error, module_id),
        )
