"""Remembers the errors of modules (§9.15.2)."""

from __future__ import annotations

from typing import Any, ClassVar

from apcore.context import Context, is_rehearsal
from apcore.errors import ModuleError, ModuleNotFoundError
from apcore.middleware.base import Middleware
from apcore.redaction import SensitiveValues
from apcore.registry import Registry
from apcore.telemetry.error_history import ErrorHistory
from apcore.telemetry.outcomes import is_waiting


class ErrorHistoryMiddleware(Middleware):
    """Records every error of a module, without the values that its schema, or their names, mark as sensitive.

    ``registry`` is where the schema of a module is found. It stands innermost, like `UsageMiddleware`.
    """

    id: ClassVar[str] = "error_history"
    priority: int = 10

    def __init__(self, history: ErrorHistory, registry: Registry) -> None:
        self._history = history
        self._registry = registry

    def on_error(self, module_id: str, inputs: dict[str, Any], error: ModuleError, context: Context) -> None:
        """Record the error once, where it came up first: callers further up only pass it on. Waiting is no error."""
        if is_rehearsal(context) or error.module_id not in (None, module_id):
            return
        if is_waiting(error.code):
            return
        keys = context.sensitive_keys
        secrets = SensitiveValues(inputs, self._schema_of(module_id), keys)
        self._history.record(module_id, error, trace_id=context.trace_id, secrets=secrets, keys=keys)

    def _schema_of(self, module_id: str) -> Any:
        try:
            return self._registry.get_definition(module_id).input_schema
        except ModuleNotFoundError:  # removed while it ran
            return None
