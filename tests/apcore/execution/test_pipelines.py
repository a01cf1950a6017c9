from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from apcore.app import build_app
from apcore.context import Context
from apcore.errors import ConfigError, InvalidInputError
from apcore.execution import Executor
from apcore.execution.pipelines import configured_strategy
from apcore.middleware import Middleware
from apcore.modules import module
from apcore.pipeline import STANDARD_STEPS, PipelineState, Step, Strategy
from apcore.registry import Registry

HERE = f"{__name__}."


class Notes:
    """A step that notes in the chain's data that it ran."""

    def __init__(self, *, word: str = "noted") -> None:
        self.word = word

    def run(self, state: PipelineState) -> str:
        state.context.data.setdefault("notes", []).append(self.word)
        return self.word


async def note_later(state: PipelineState) -> None:
    state.context.data.setdefault("notes", []).append("later")


def breaks(state: PipelineState) -> None:
    raise OSError("down")


NOT_CALLABLE = 5


@pytest.fixture
def registry() -> Registry:
    @module(id="math.double")
    def double(a: int, context: Context) -> dict[str, Any]:
        """Double a number"""
        return {"twice": 2 * a, "notes": list(context.data.get("notes", ()))}

    registry = Registry()
    registry.register("math.double", double)
    registry.register("other.double", double)
    return registry


@pytest.fixture(params=["sync", "async"])
def notes(request: pytest.FixtureRequest, registry: Registry) -> Callable[..., Any]:
    def run(section: Any, module_id: str = "math.double") -> Any:
        executor = Executor(registry)
        executor.use_strategy(configured_strategy(executor.strategy, section))
        if request.param == "sync":
            return executor.call(module_id, {"a": 1})["notes"]
        return asyncio.run(executor.call_async(module_id, {"a": 1}))["notes"]

    return run


def step(**values: Any) -> dict[str, Any]:
    return {"name": "note", "class": f"{HERE}Notes", "after": "acl_check", **values}


def test_an_empty_section_leaves_the_strategy_as_it_is(registry: Registry) -> None:
    base = Executor(registry).strategy
    for section in (None, {}, []):
        assert configured_strategy(base, section) is base
    assert base.step_names == STANDARD_STEPS
    assert base.name == "standard"


@pytest.mark.req("R-5.16-03")
def test_steps_are_inserted_where_they_say(notes: Callable[..., Any], registry: Registry) -> None:
    section = {
        "name": "noting",
        "steps": [
            step(config={"word": "checked"}),
            {"name": "later", "function": f"{HERE}note_later", "before": "execute"},
        ],
    }
    assert notes(section) == ["checked", "later"]
    strategy = configured_strategy(Executor(registry).strategy, section)
    assert strategy.name == "noting"
    names = list(strategy.step_names)
    assert names.index("note") == names.index("acl_check") + 1
    assert names.index("later") == names.index("execute") - 1
    assert isinstance(strategy["note"], Step)


@pytest.mark.req("R-5.16-02")
def test_a_step_may_be_ignored_when_it_fails(notes: Callable[..., Any]) -> None:
    failing = {"name": "fails", "function": f"{HERE}breaks", "after": "acl_check"}
    assert notes({"steps": [{**failing, "ignore_errors": True}]}) == []
    with pytest.raises(Exception, match="OSError"):
        notes({"steps": [failing]})


def test_a_step_may_be_for_some_modules(notes: Callable[..., Any]) -> None:
    for item in (step(match_modules=["math.*"]), step(match_modules=["math.*"], **{"class": f"{HERE}Notes"})):
        assert notes({"steps": [item]}) == ["noted"]
        assert notes({"steps": [item]}, "other.double") == []
    later = {"name": "later", "function": f"{HERE}note_later", "before": "execute", "match_modules": ["math.double"]}
    assert notes({"steps": [later]}) == ["later"]
    assert notes({"steps": [later]}, "other.double") == []


def test_inserted_steps_may_be_replaced_moved_and_removed(notes: Callable[..., Any]) -> None:
    two = [step(), step(name="second", config={"word": "second"})]
    assert notes({"steps": two}) == ["second", "noted"]
    assert notes({"steps": two, "remove": ["second"]}) == ["noted"]
    assert notes({"steps": two, "configure": {"note": {"class": f"{HERE}Notes", "config": {"word": "new"}}}}) == [
        "second",
        "new",
    ]
    order = [*STANDARD_STEPS[:5], "note", "second", *STANDARD_STEPS[5:]]
    assert notes({"steps": two, "order": order}) == ["noted", "second"]


@pytest.mark.parametrize("name", STANDARD_STEPS)
def test_no_standard_step_can_be_removed_changed_or_moved(registry: Registry, name: str) -> None:
    base = Executor(registry).strategy
    with pytest.raises(ConfigError, match="cannot be removed"):
        configured_strategy(base, {"remove": [name]})
    with pytest.raises(ConfigError, match="cannot change"):
        configured_strategy(base, {"configure": {name: {"ignore_errors": True, "class": f"{HERE}Notes"}}})
    moved = [each for each in STANDARD_STEPS if each != name]
    moved.insert(0 if name != STANDARD_STEPS[0] else len(moved), name)
    with pytest.raises(ConfigError, match=r"keep their order|must not come before"):
        configured_strategy(base, {"order": moved})
    with pytest.raises(ConfigError, match="name each step once"):
        configured_strategy(base, {"order": [each for each in STANDARD_STEPS if each != name]})
    with pytest.raises(InvalidInputError, match=name):
        Executor(registry).use_strategy(Strategy(each for each in base.steps if each.name != name))


@pytest.mark.parametrize(
    ("section", "text"),
    [
        ("fast", "must be an object"),
        ({"step": []}, "no key 'step'"),
        ({"steps": {"name": "x"}}, "must be a list"),
        ({"steps": ["x"]}, r"pipeline.steps\[0\] must be an object"),
        ({"steps": [step(nmae="x")]}, "no key 'nmae'"),
        ({"steps": [step(name="two words")]}, "must be a word"),
        ({"steps": [step(name="acl_check")]}, "already"),
        ({"steps": [step(after="nowhere")]}, "no pipeline step 'nowhere'"),
        ({"steps": [step(before="execute")]}, "exactly one of before"),
        ({"steps": [step(function=f"{HERE}breaks")]}, "exactly one of class and function"),
        ({"steps": [step(**{"class": f"{HERE}Absent"})]}, "has no 'Absent'"),
        ({"steps": [{"name": "x", "function": f"{HERE}NOT_CALLABLE", "after": "execute"}]}, "neither callable"),
        ({"steps": [step(config={"words": 1})]}, "does not take"),
        ({"steps": [step(pure="yes")]}, "pure must be true or false"),
        ({"steps": [step(match_modules="math.*")]}, "list of patterns"),
        ({"steps": [step(match_modules=5)]}, "list of patterns"),
        ({"steps": {}}, "pipeline.steps must be a list"),
        ({"name": 5}, "pipeline.name must be a text"),
        ({"configure": {"note": {}}}, "no pipeline step 'note'"),
        ({"remove": ["note"]}, "no pipeline step 'note'"),
    ],
)
def test_mistakes_say_where_they_are(registry: Registry, section: Any, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        configured_strategy(Executor(registry).strategy, section)


def test_an_app_goes_by_the_strategy_of_its_configuration(registry: Registry) -> None:
    config = {"version": "1.8.0", "project": {"name": "t"}, "pipeline": {"name": "noting", "steps": [step()]}}
    app = build_app(registry=registry, config=config)
    assert app.executor.strategy.name == "noting"
    assert "note" in app.executor.strategy
    with pytest.raises(ConfigError, match="cannot be removed"):
        build_app(registry=registry, config={**config, "pipeline": {"remove": ["acl_check"]}})


@pytest.mark.req("R-7.4-02")
def test_middleware_repairs_inputs_before_they_are_validated(registry: Registry) -> None:
    class Fills(Middleware):
        def before(self, module_id: str, inputs: dict[str, Any], context: Any) -> dict[str, Any]:
            return {"a": 5, **inputs}

    executor = Executor(registry)
    with pytest.raises(Exception, match="a"):
        executor.call("math.double", {})
    executor.use(Fills())
    assert executor.call("math.double", {})["twice"] == 10
