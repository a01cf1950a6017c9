from __future__ import annotations

from typing import Any

import pytest

from apcore.acl import ACL
from apcore.app import App, build_app
from apcore.errors import ACLDeniedError, ConfigError, InvalidInputError
from apcore.execution import Executor
from apcore.middleware import Middleware
from apcore.modules import module
from apcore.registry import Registry

HERE = f"{__name__}."


class Custom(Middleware):
    id = "custom"


@pytest.fixture
def registry() -> Registry:
    @module(id="math.double")
    def double(a: int) -> dict[str, Any]:
        """Double a number"""
        return {"twice": 2 * a}

    registry = Registry()
    registry.register("math.double", double)
    return registry


def app_with(registry: Registry, **sections: Any) -> App:
    config = {"version": "1.0.0", "project": {"name": "test"}, "acl": {"default_effect": "allow"}, **sections}
    return build_app(registry=registry, acl=ACL([], default_effect="allow"), config=config)


def listed(app: App) -> list[tuple[str, int]]:
    return [(each.id, each.priority) for each in app.executor.middleware]


@pytest.mark.req("R-11.4-02")
def test_the_four_that_are_on_by_default_stand_outermost(registry: Registry) -> None:
    expected = [("tracing", 950), ("logging", 900), ("metrics", 890), ("error_wrapper", 800)]
    assert listed(app_with(registry))[:4] == expected
    assert listed(build_app()) == expected
    assert Executor(registry).middleware == ()


@pytest.mark.req("R-11.4-03")
@pytest.mark.parametrize("name", ["tracing", "logging", "metrics", "error_wrapper", "usage", "error_history"])
def test_disabling_one_removes_that_one(registry: Registry, name: str) -> None:
    everything = [each for each, _ in listed(app_with(registry))]
    app = app_with(registry, middleware={"disabled": [name]})
    assert [each for each, _ in listed(app)] == [each for each in everything if each != name]
    assert app.executor.call("math.double", {"a": 2}) == {"twice": 4}


@pytest.mark.req("R-11.4-01")
@pytest.mark.parametrize("name", ["acl_check", "schema_validation"])
def test_what_is_required_stays_in_force(registry: Registry, name: str) -> None:
    with pytest.raises(ConfigError, match="pipeline step"):
        app_with(registry, middleware={"disabled": [name]})
    executor = build_app(registry=registry, acl=ACL([], default_effect="deny")).executor
    with pytest.raises(InvalidInputError, match="pipeline step"):
        executor.remove(name)
    with pytest.raises(InvalidInputError, match="pipeline step"):
        executor.use(Custom(), id=name)
    with pytest.raises(ACLDeniedError):
        executor.call("math.double", {"a": 2})


def test_only_what_is_on_can_be_disabled(registry: Registry) -> None:
    with pytest.raises(ConfigError, match="not on by default"):
        app_with(registry, middleware={"disabled": ["metrix"]})


@pytest.mark.req("R-11.2-01")
def test_entries_join_and_adjust_the_built_ins(registry: Registry) -> None:
    entries = [
        {"id": "metrics", "priority": 10},
        {"id": "logging", "config": {"level": "debug"}},
        {"class": f"{HERE}Custom", "priority": 950},
        {"id": "retry"},
    ]
    found = dict(listed(app_with(registry, middleware=entries)))
    assert (found["metrics"], found["custom"], found["retry"]) == (10, 950, 700)
    assert [each for each, _ in listed(app_with(registry, middleware=entries))][:2] == ["tracing", "custom"]


def test_an_entry_may_take_the_place_of_a_built_in(registry: Registry) -> None:
    app = app_with(registry, middleware=[{"id": "logging", "class": f"{HERE}Custom"}])
    [mine] = [each.middleware for each in app.executor.middleware if each.id == "logging"]
    assert isinstance(mine, Custom)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"id": "logging", "config": {"colour": "red"}}, "colour"),
        ({"id": "error_wrapper", "config": {"level": "x"}}, "takes no config"),
    ],
)
def test_settings_that_a_built_in_does_not_have_are_refused(registry: Registry, entry: Any, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        app_with(registry, middleware=[entry])


def test_calls_feed_usage_and_error_history(registry: Registry) -> None:
    @module(id="math.fail")
    def fail() -> dict[str, Any]:
        """Fail"""
        raise ValueError("no")

    registry.register("math.fail", fail)
    app = app_with(registry)
    app.executor.call("math.double", {"a": 2})
    with pytest.raises(Exception, match="unexpected error"):
        app.executor.call("math.fail", {})
    assert app.usage.module("math.double").figures.call_count == 1
    assert [each.code for each in app.error_history.entries("math.fail")] == ["MODULE_EXECUTE_ERROR"]


@pytest.mark.parametrize(("section", "expected"), [({"enabled": True}, True), ({"enabled": False}, False)])
def test_thresholds_are_watched_where_they_are_switched_on(
    registry: Registry, section: dict[str, Any], expected: bool
) -> None:
    app = app_with(registry, observability={"platform_notify": section})
    assert ("platform_notify" in dict(listed(app))) is expected
