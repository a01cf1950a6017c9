"""An ordered set of steps with names (§5.16)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from apcore.errors import InvalidInputError
from apcore.pipeline.step import Step, StepFunction


class Strategy:
    """The steps of a pipeline in order, looked up by name in O(1) (§5.16.2). Immutable: each change is a new strategy.

    The steps from ``commits_from`` to ``commits_to`` form one unit: the runner commits them together or not at all.
    """

    __slots__ = ("_by_name", "after", "before", "commits_from", "commits_to", "steps", "together")

    def __init__(
        self, steps: Iterable[Step], *, commits_from: str = "execute", commits_to: str = "output_validation"
    ) -> None:
        self.steps = tuple(steps)
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
        except KeyError:
            known = ", ".join(self._by_name)
            raise InvalidInputError(f"There is no pipeline step {name!r}; the steps are: {known}") from None

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def configure(self, name: str, step: Step | StepFunction) -> Strategy:
        """Replace step ``name`` entirely, in its place (§5.16.3). Raises InvalidInputError if there is none.

        A bare function is as pure as the step that it replaces: ``validate()`` must not leave a gate out because it
        was customised.
        """
        old = self[name]
        new = replace(step, name=name) if isinstance(step, Step) else Step(name, step, pure=old.pure)
        return self._with(new if each is old else each for each in self.steps)

    def insert(self, step: Step, *, before: str | None = None, after: str | None = None) -> Strategy:
        """Add ``step`` next to a named one. Raises InvalidInputError for a name in use or an unknown neighbour."""
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
        return Strategy(steps, commits_from=self.commits_from, commits_to=self.commits_to)
