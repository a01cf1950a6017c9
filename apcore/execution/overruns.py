"""What the log says about code that ignored its deadline (§12.7.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apcore.context import Context
from apcore.errors import ModuleError
from apcore.execution.settings import Limits
from apcore.execution.steps.acl_check import Question
from apcore.middleware import Passage
from apcore.registry import Registry


class Overruns:
    """Tells whose code ran past which limit: the module's, that of its middleware, or that of the access list."""

    def __init__(self, registry: Registry, limits: Limits) -> None:
        self._registry = registry
        self._limits = limits

    def describe(self, function: Callable[..., Any], context: Context, deadline: float) -> str:
        """The beginning of a sentence about ``function``, which was called for the last module of the chain."""
        module_id = context.call_chain[-1] if context.call_chain else "?"
        owner = getattr(function, "__self__", None)
        if isinstance(owner, Question):
            return f"The access check of module {module_id} ignored its deadline ({owner.limit_ms} ms)"
        limit = self._limit(module_id, context, deadline)
        if isinstance(owner, Passage):
            return f"{owner.whereabouts} around module {module_id} ignored its deadline ({limit})"
        return f"Module {module_id} ignored its deadline ({limit})"

    def _limit(self, module_id: str, context: Context, deadline: float) -> str:
        """Which setting made a deadline, and its value."""
        if deadline == context.deadline:
            return f"that of the whole chain; executor.global_timeout = {self._limits.settings.global_timeout} ms"
        try:
            own = self._registry.get_definition(module_id).timeout_ms
        except ModuleError:
            own = None
        if own is None:
            return f"executor.default_timeout = {self._limits.settings.default_timeout} ms"
        return f"resources.timeout = {own} ms"
