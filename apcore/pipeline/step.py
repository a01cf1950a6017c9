"""A step of the pipeline (§5.16)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import CoroutineType
from typing import Any

from apcore.errors import InvalidInputError, require
from apcore.pipeline.state import PipelineState

StepFunction = Callable[[PipelineState], Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One named step: ``run(state)``, sync or async.

    ``pure`` steps change nothing outside and also run in ``Executor.validate()``. With ``ignore_errors`` a failure is
    logged and the pipeline goes on (§5.16.1). ``native`` marks the project's own functions, which need no bridge: they
    return their output, or a coroutine where they have to wait, which suspends only in the runner. ``before`` and
    ``after`` hooks are middleware of this step alone (§5.16.5).
    """

    name: str
    run: StepFunction
    pure: bool = False
    ignore_errors: bool = False
    native: bool = False
    before: tuple[StepFunction, ...] = ()
    after: tuple[StepFunction, ...] = ()
    begin: StepFunction = field(init=False, repr=False, compare=False)
    """``run`` itself where that is all there is to call, else ``perform``; a coroutine that it returns is awaited."""

    def __post_init__(self) -> None:
        name: object = self.name
        if not isinstance(name, str) or not name.strip():
            raise InvalidInputError(f"A pipeline step needs a name, not {self.name!r}")
        for field_name in ("pure", "ignore_errors", "native"):
            require(f"{field_name} of pipeline step {self.name!r}", getattr(self, field_name), bool, "true or false")
        for hooks in (self.before, self.after):
            require(f"The hooks of pipeline step {self.name!r}", hooks, (tuple, list), "a tuple of functions")
        if not all(callable(each) for each in (self.run, *self.before, *self.after)):
            raise InvalidInputError(f"Pipeline step {self.name!r} and its hooks must be functions of the state")
        is_bare = self.native and not self.before and not self.after
        object.__setattr__(self, "begin", self.run if is_bare else self.perform)

    async def perform(self, state: PipelineState) -> Any:
        """Run the hooks and the step, whatever kinds they are."""
        call = state.runner.call
        for hook in self.before:
            await call(hook, state)
        if self.native:
            output = self.run(state)
            if type(output) is CoroutineType:
                output = await output
        else:
            output = await call(self.run, state)
        for hook in reversed(self.after):
            await call(hook, state)
        return output
