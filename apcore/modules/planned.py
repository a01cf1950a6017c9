"""Modules that decide first and act second, so that the preview is the decision itself."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from apcore.modules.base import Module
from apcore.modules.callables import is_async
from apcore.modules.plan import Plan


class PlannedModule(Module, ABC):
    """A module whose `execute` is `apply(plan(...))`: the plan of a preview is what `apply()` would get.

    Both methods may be async. `plan()` changes nothing; `apply()` makes the changes of the plan and no others.
    """

    @abstractmethod
    def plan(self, inputs: Any, context: Any) -> Any:
        """Decide what to do; returns a `Plan`."""

    @abstractmethod
    def apply(self, plan: Any, context: Any) -> Any:
        """Do it; returns the output of the module, a dict."""

    def execute(self, inputs: Any, context: Any) -> Any:
        """Plan, then apply that plan; a coroutine when either is async."""
        return planned_execute(self.plan, self.apply)(inputs, context)


def planned_execute(plan: Callable[..., Any], apply: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """`apply` after `plan` as one function; a coroutine function when either is one."""

    def execute(inputs: Any, context: Any) -> Any:
        return apply(checked_plan(plan(inputs, context)), context)

    async def execute_async(inputs: Any, context: Any) -> Any:
        made = await _result_of(plan(inputs, context))
        return await _result_of(apply(checked_plan(made), context))

    return execute_async if is_async(plan) or is_async(apply) else execute


def checked_plan(made: object) -> Plan:
    """What `plan()` returned. Raises TypeError if that is no `Plan`."""
    if not isinstance(made, Plan):
        raise TypeError(f"plan() must return a Plan, not {type(made).__name__}")
    return made


async def _result_of(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
