"""An ordered set of steps with names (§5.16)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import wraps
from inspect import isawaitable
from typing import Any, Final

from asgiref.sync import iscoroutinefunction

from apcore.errors import InvalidInputError
from apcore.pipeline.state import PipelineState
from apcore.pipeline.step import Step, StepFunction

STANDARD_STEPS: Final = (
    "context_creation",
    "call_chain_guard",
    "module_lookup",
    "input_rewrite",
    "acl_check",
    "approval_gate",
    "middleware_before",
    "input_validation",
    "execute",
    "output_validation",
    "middleware_after",
    "return_result",
)
"""The steps of every call (§7.4). Each may be replaced in code; none may go, and their order is what is safe."""


class Strategy:
    """The steps of a pipeline in order, looked up by name in O(1) (§5.16.2). Immutable: each change is a new strategy.

    The steps from ``commits_from`` to ``commits_to`` form one unit: the runner commits them together or not at all.
    ``name`` is for people.
    """

    __slots__ = ("_by_name", "after", "before", "commits_from", "commits_to", "name", "pure", "steps", "together")

    def __init__(
        self,
        steps: Iterable[Step],
        *,
        commits_from: str = "execute",
        commits_to: str = "output_validation",
        name: str = "standard",
    ) -> None:
        self.name = name
        self.steps = tuple(steps)
        self.pure = tuple(step for step in self.steps if step.pure)
        self._by_name = {step.name: step for step in self.steps}
        if len(self._by_name) != len(self.steps):
            raise InvalidInputError("Two steps of a strategy have the same name")
        self.commits_from, self.commits_to = commits_from, commits_to
        names = list(self._by_name)
        first = names.index(commits_from) if commits_from in self._by_name else len(names)
        last = names.index(commits_to) + 1 if commits_to in self._by_name else first + (first < len(names))
        if last < first:
            raise InvalidInputError(f"Step {commits_to!r} must not come before {commits_from!r}")
        self.before, self.together, self.after = self.steps[:first], self.steps[first:last], self.steps[last:]

    def __getitem__(self, name: str) -> Step:
        try:
            return self._by_name[name]
        except (KeyError, TypeError):
            known = ", ".join(self._by_name)
            raise InvalidInputError(f"There is no pipeline step {name!r}; the steps are: {known}") from None

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    @property
    def step_names(self) -> tuple[str, ...]:
        """The names of the steps, in order."""
        return tuple(self._by_name)

    def named(self, name: str) -> Strategy:
        """The same steps under another name."""
        return Strategy(self.steps, commits_from=self.commits_from, commits_to=self.commits_to, name=name)

    def without(self, name: str) -> Strategy:
        """All steps but one that was inserted. Raises InvalidInputError for a standard step and an unknown name."""
        gone = self[name]
        if name in STANDARD_STEPS:
            raise InvalidInputError(
                f"The step {name!r} cannot be removed: every call passes it (§7.4). Built-in middleware is switched "
                "off with middleware.disabled, and a rewriter, a handler or an access list by not configuring it"
            )
        return self._with(each for each in self.steps if each is not gone)

    def reordered(self, names: Iterable[str]) -> Strategy:
        """The same steps in another order. Raises InvalidInputError if one is missing, or a standard step moves."""
        order = tuple(names)
        if sorted(order) != sorted(self._by_name):
            raise InvalidInputError(f"The order has to name each step once: {', '.join(self._by_name)}")
        strategy = self._with(self[name] for name in order)
        strategy.require_complete()
        return strategy

    def require_complete(self) -> None:
        """Raises InvalidInputError unless all standard steps are there, in their order (§7.4)."""
        missing = [name for name in STANDARD_STEPS if name not in self]
        if missing:
            raise InvalidInputError(f"A strategy without {', '.join(missing)} is refused: every call passes it (§7.4)")
        standard = tuple(name for name in self._by_name if name in STANDARD_STEPS)
        if standard != STANDARD_STEPS:
            raise InvalidInputError(f"The standard steps keep their order (§7.4): {', '.join(STANDARD_STEPS)}")

    def configure(self, name: str, step: Step | StepFunction) -> Strategy:
        """Replace step ``name`` entirely, in its place (§5.16.3).

        Raises InvalidInputError if there is none, and for a standard step whose failure would let the call go on.
        A bare function is as pure as the step that it replaces: ``validate()`` must not leave a gate out because it
        was customised. What another `execute` returns is the result, as what a module returns is, unless it set one.
        """
        old = self[name]
        new = replace(step, name=name) if isinstance(step, Step) else Step(name, step, pure=old.pure)
        if name == self.commits_from and not new.native:
            new = replace(new, run=_with_result(new.run))
        if name in STANDARD_STEPS and new.ignore_errors:
            raise InvalidInputError(
                f"The step {name!r} cannot ignore errors: a call that fails one of the standard steps must not go on "
                "(§7.4). Insert a step of your own for what may fail"
            )
        return self._with(new if each is old else each for each in self.steps)

    def insert(self, step: Step, *, before: str | None = None, after: str | None = None) -> Strategy:
        """Add ``step`` next to a named one. Raises InvalidInputError for a name in use or an unknown neighbour."""
        if not isinstance(step, Step):
            raise InvalidInputError(f"What is inserted is a Step with a name, not {type(step).__name__}")
        if (before is None) == (after is None):
            raise InvalidInputError("insert_step needs exactly one of before= and after=")
        if step.name in self:
            raise InvalidInputError(f"There is a step {step.name!r} already; configure_step replaces it")
        neighbour = self[before or after or ""]
        pair = (step, neighbour) if before else (neighbour, step)
        return self._with(part for each in self.steps for part in (pair if each is neighbour else (each,)))

    def hook(self, name: str, *, before: StepFunction | None = None, after: StepFunction | None = None) -> Strategy:
        """Add middleware around one step: inside the global middleware, outside the step (§5.16.5)."""
        step = self[name]
        return self.configure(
            name,
            replace(
                step,
                before=(*step.before, before) if before else step.before,
                after=(*step.after, after) if after else step.after,
            ),
        )

    def rewritten(self, rewrite: Callable[[Step], StepFunction | None]) -> Strategy:
        """The same steps, of which those run otherwise for which ``rewrite(step)`` returns a function.

        The function stands where the step's own stood, inside its hooks: it is as pure and as native as the step.
        """
        functions = [(step, rewrite(step)) for step in self.steps]
        return self._with(step if run is None else replace(step, run=run) for step, run in functions)

    def _with(self, steps: Iterable[Step]) -> Strategy:
        return Strategy(steps, commits_from=self.commits_from, commits_to=self.commits_to, name=self.name)


def _with_result(run: StepFunction) -> StepFunction:
    def take(state: PipelineState, output: Any) -> Any:
        if state.result is None:
            state.result = output
        return output

    async def take_later(state: PipelineState, output: Awaitable[Any]) -> Any:
        return take(state, await output)

    @wraps(run)
    def run_sync(state: PipelineState) -> Any:
        output = run(state)
        return take_later(state, output) if isawaitable(output) else take(state, output)

    @wraps(run)
    async def run_async(state: PipelineState) -> Any:
        return await take_later(state, run(state))

    return run_async if iscoroutinefunction(run) else run_sync
