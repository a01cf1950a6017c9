"""Counts every run of a module (§10.4)."""

from __future__ import annotations

from typing import Any, ClassVar

from apcore.context import Context, is_rehearsal
from apcore.errors import ErrorCodes, ModuleError
from apcore.middleware.base import Middleware
from apcore.telemetry.stopwatch import Stopwatch
from apcore.telemetry.usage import UsageCollector, caller_type_of


class UsageMiddleware(Middleware):
    """Records duration, kind of caller and outcome of every call that got as far as the module's inputs.

    It stands innermost: what an ``on_error()`` further out makes of a failure, the module has failed. A run that will
    be undone, to see what it would do, is no call, and neither is one that was undone because a person has to decide
    (``APPROVAL_PENDING``).
    """

    id: ClassVar[str] = "usage"
    priority: int = 30

    def __init__(self, collector: UsageCollector) -> None:
        self._collector = collector
        self._watch = Stopwatch(self.id)

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:
        """Start the clock."""
        if not is_rehearsal(context):
            self._watch.start(context)

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> None:
        """Count a success."""
        self._record(module_id, context, None)

    def on_error(self, module_id: str, inputs: dict[str, Any], error: ModuleError, context: Context) -> None:
        """Count a failure, unless the module had succeeded and something further out failed, or the call waits."""
        if error.code == ErrorCodes.APPROVAL_PENDING:
            self._watch.stop(context)
        else:
            self._record(module_id, context, error.code)

    def _record(self, module_id: str, context: Context, error_code: str | None) -> None:
        duration = self._watch.stop(context)
        if duration is None:
            return
        identity = context.identity
        self._collector.record(
            module_id,
            caller_type=caller_type_of(identity.type if identity else None),
            duration_ms=duration,
            error_code=error_code,
        )
