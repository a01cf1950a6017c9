"""What the built-ins have in common that look at each run of a module and how long it took."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from apcore.context import Context, is_rehearsal
from apcore.errors import ModuleError
from apcore.middleware.base import Middleware
from apcore.telemetry.stopwatch import Stopwatch


class TimingMiddleware(Middleware, ABC):
    """Tells ``ended()`` of every run that got as far as the module's inputs.

    It stands innermost: what an ``on_error()`` further out makes of a failure, the module has failed; and where the
    module had succeeded and something further out failed, it has not. A run that will be undone, to see what it would
    do, is none.
    """

    def __init__(self) -> None:
        self._watch = Stopwatch(str(self.id))

    @abstractmethod
    def ended(self, module_id: str, context: Context, duration_ms: float, error: ModuleError | None) -> None:
        """A run is over."""

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:
        """Start the clock."""
        if not is_rehearsal(context):
            self._watch.start(context)

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> None:
        """A success."""
        self._end(module_id, context, None)

    def on_error(self, module_id: str, inputs: dict[str, Any], error: ModuleError, context: Context) -> None:
        """A failure, unless the clock was stopped already."""
        self._end(module_id, context, error)

    def _end(self, module_id: str, context: Context, error: ModuleError | None) -> None:
        duration = self._watch.stop(context)
        if duration is not None:
            self.ended(module_id, context, duration, error)
