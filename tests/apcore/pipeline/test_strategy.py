from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import InvalidInputError
from apcore.pipeline import Step, Strategy
from apcore.pipeline.strategy import STANDARD_STEPS

NAMES = ["a", "b", "execute", "c", "output_validation", "d"]


def nothing(state: object) -> None:
    return None


def strategy(names: list[str] = NAMES) -> Strategy:
    return Strategy(Step(name, nothing) for name in names)


def names(steps: tuple[Step, ...]) -> list[str]:
    return [step.name for step in steps]


def test_the_middle_commits_together() -> None:
    made = strategy()
    assert names(made.before) == ["a", "b"]
    assert names(made.together) == ["execute", "c", "output_validation"]
    assert names(made.after) == ["d"]


def test_without_the_middle_everything_comes_before() -> None:
    made = strategy(["a", "b"])
    assert (names(made.before), made.together, made.after) == (["a", "b"], (), ())


@pytest.mark.req("R-5.16-03", "R-5.16-04")
def test_steps_are_found_by_name() -> None:
    assert strategy()["c"].name == "c"
    with pytest.raises(InvalidInputError, match=r"'nope'.*execute"):
        strategy()["nope"]


@pytest.mark.req("R-5.16-05", "R-5.16-06")
@given(st.sampled_from(NAMES), st.sampled_from(["other", *NAMES]))
def test_configuring_keeps_names_unique_and_in_place(name: str, inner: str) -> None:
    changed = strategy().configure(name, Step(inner, nothing, pure=True))
    assert names(changed.steps) == NAMES
    assert changed[name].pure


def test_configuring_an_unknown_step_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        strategy().configure("nope", nothing)


@pytest.mark.parametrize("name", STANDARD_STEPS)
def test_no_standard_step_ignores_its_errors(name: str) -> None:
    made = strategy(list(STANDARD_STEPS))
    with pytest.raises(InvalidInputError, match="cannot ignore errors"):
        made.configure(name, Step(name, nothing, ignore_errors=True))


@given(st.sampled_from(NAMES), st.booleans())
def test_inserting_puts_the_step_next_to_its_neighbour(neighbour: str, before: bool) -> None:
    where = {"before": neighbour} if before else {"after": neighbour}
    order = names(strategy().insert(Step("new", nothing), **where).steps)
    assert order.index("new") - order.index(neighbour) == (-1 if before else 1)
    assert [name for name in order if name != "new"] == NAMES


@pytest.mark.parametrize("where", [{}, {"before": "a", "after": "b"}, {"before": "nope"}])
def test_inserting_needs_one_known_neighbour(where: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError):
        strategy().insert(Step("new", nothing), **where)


def test_a_name_is_used_once() -> None:
    with pytest.raises(InvalidInputError, match="configure_step"):
        strategy().insert(Step("a", nothing), before="b")
    with pytest.raises(InvalidInputError):
        strategy(["a", "a"])


@pytest.mark.parametrize("name", ["", " ", None, 3])
def test_a_step_needs_a_name(name: Any) -> None:
    with pytest.raises(InvalidInputError, match="needs a name"):
        Step(name, nothing)


@pytest.mark.parametrize(
    "parts", [{"run": None}, {"run": "nothing"}, {"run": nothing, "before": (3,)}], ids=["none", "text", "number"]
)
def test_a_step_and_its_hooks_are_functions(parts: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="must be functions"):
        Step("a", **parts)


def test_what_is_no_step_changes_no_strategy() -> None:
    inserted: Any
    for inserted in (None, "b", nothing):
        with pytest.raises(InvalidInputError, match="is a Step with a name"):
            strategy().insert(inserted, before="a")
    function: Any = None
    with pytest.raises(InvalidInputError, match="must be functions"):
        strategy().configure("a", function)
    name: Any = []
    with pytest.raises(InvalidInputError, match="no pipeline step"):
        strategy().configure(name, nothing)
