"""What a middleware may implement (§11.1)."""

from __future__ import annotations

from typing import Any

from apcore.context import Context
from apcore.errors import ModuleError

DEFAULT_PRIORITY = 100


class Middleware:
    """An optional base class; any object with some of these methods will do, sync or async (§11.1).

    Instances serve all calls at once: state of one call belongs into ``context.data``, not on ``self`` (§12.7.6).
    ``priority`` is 0 to 1000, higher runs further out; equal priorities keep the order of registration (§11.2).
    """

    priority: int = DEFAULT_PRIORITY

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> Any:
        """Runs before the module. A returned dict replaces the inputs; None leaves them; raising aborts (§11.8.2)."""
        return None

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> Any:
        """Runs after the module. A returned dict replaces the output; None leaves it (§11.8.3)."""
        return None

    def on_error(self, module_id: str, inputs: dict[str, Any], error: ModuleError, context: Context) -> Any:
        """Runs when the call failed. A returned value becomes the output; None lets the error go on (§11.8.1)."""
        return None
