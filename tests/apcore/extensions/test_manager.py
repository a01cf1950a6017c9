from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.approval import AutoApproveHandler
from apcore.errors import InvalidInputError
from apcore.extensions import EXTENSION_POINTS, STRATEGIES, ExtensionManager, interfaces
from apcore.middleware import Middleware


class Everything(Middleware, AutoApproveHandler):
    """Has the methods of every point."""

    def discover(self, config: Any) -> list[Any]:
        return []

    def check(self, caller_id: str | None, target_id: str, context: Any) -> bool:
        return True

    def export(self, spans: Any) -> None:
        return None

    def shutdown(self) -> None:
        return None

    def validate(self, definition: Any) -> None:
        return None


@pytest.mark.req("R-11.3-01")
def test_there_are_six_points_by_their_actual_names() -> None:
    names = ["discoverer", "middleware", "acl", "span_exporter", "module_validator", "approval_handler"]
    manager = ExtensionManager()
    assert manager.list_points() == names == list(EXTENSION_POINTS)
    for name in names:
        assert manager.get(name) is None
        assert manager.get_all(name) == []
        assert manager.resolved(name) is None


@pytest.mark.req("R-11.3-01")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("schema_loader", "'discoverer' here"),
        ("acl_checker", "'acl' here"),
        ("id_converter", "not built"),
        ("nonsense", "there are discoverer"),
        (None, "there are discoverer"),
    ],
)
@pytest.mark.parametrize("method", ["register", "get", "get_all", "unregister", "strategy", "set_strategy"])
def test_an_unknown_point_is_refused(method: str, name: Any, text: str) -> None:
    further = {"register": [Everything()], "unregister": [Everything()], "set_strategy": ["all"]}.get(method, [])
    with pytest.raises(InvalidInputError, match=text):
        getattr(ExtensionManager(), method)(name, *further)


@pytest.mark.parametrize(
    ("point", "missing"),
    [
        ("discoverer", r"discover\(\)"),
        ("acl", r"check\(\)"),
        ("span_exporter", r"export\(\), shutdown\(\)"),
        ("module_validator", r"validate\(\)"),
        ("approval_handler", r"request_approval\(\), check_approval\(\)"),
        ("middleware", "none of before, after, on_error"),
    ],
)
def test_the_error_names_what_an_implementation_lacks(point: str, missing: str) -> None:
    manager = ExtensionManager()
    with pytest.raises(InvalidInputError, match=missing):
        manager.register(point, object())
    with pytest.raises(InvalidInputError, match="is a class"):
        manager.register(point, Everything)
    manager.register(point, Everything())


def test_the_half_of_an_interface_is_not_enough() -> None:
    class OnlyAsks:
        def request_approval(self, request: Any) -> None:
            return None

    with pytest.raises(InvalidInputError, match=r"lacks check_approval\(\)"):
        ExtensionManager().register("approval_handler", OnlyAsks())


@pytest.mark.req("R-11.7-01")
@given(st.lists(st.integers(0, 1000), max_size=8))
def test_implementations_come_by_priority_and_then_in_their_order(priorities: list[int]) -> None:
    manager = ExtensionManager()
    given_in_order = [(priority, Everything()) for priority in priorities]
    for priority, implementation in given_in_order:
        manager.register("acl", implementation, priority=priority)
    expected = [each for _, each in sorted(given_in_order, key=lambda pair: -pair[0])]
    assert [id(each) for each in manager.get_all("acl")] == [id(each) for each in expected]
    assert manager.get("acl") is (expected[0] if expected else None)


@pytest.mark.parametrize("priority", [-1, 1001, True, "high"])
def test_priorities_are_those_of_middleware(priority: Any) -> None:
    with pytest.raises(InvalidInputError, match="0 to 1000"):
        ExtensionManager().register("acl", Everything(), priority=priority)


def test_what_is_unregistered_is_gone_and_nothing_is_there_twice() -> None:
    manager, one = ExtensionManager(), Everything()
    manager.register("acl", one)
    with pytest.raises(InvalidInputError, match="already"):
        manager.register("acl", one)
    assert manager.unregister("acl", one) is True
    assert manager.unregister("acl", one) is False
    assert manager.get("acl") is None


@pytest.mark.req("R-11.3-03")
def test_there_are_three_strategies_and_the_first_success_is_the_default() -> None:
    manager = ExtensionManager()
    assert STRATEGIES == ("first_success", "all", "fallback")
    assert {manager.strategy(point) for point in ("discoverer", "acl", "approval_handler")} == {"first_success"}
    for strategy in STRATEGIES:
        manager.set_strategy("discoverer", strategy)
        assert manager.strategies["discoverer"] == strategy
    with pytest.raises(InvalidInputError, match="first_success, all, fallback"):
        manager.set_strategy("discoverer", "majority")


@pytest.mark.parametrize(
    ("point", "strategy"),
    [("middleware", "first_success"), ("module_validator", "fallback"), ("approval_handler", "all")],
)
def test_a_strategy_that_would_leave_somebody_out_is_refused(point: str, strategy: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot be combined"):
        ExtensionManager().set_strategy(point, strategy)


@pytest.mark.req("R-11.6-01")
@pytest.mark.parametrize(
    ("name", "methods"),
    [
        ("SchemaLoader", ["load", "supports"]),
        ("ModuleLoader", ["load", "supports"]),
        ("IDConverter", ["to_canonical", "from_canonical"]),
        ("ACLChecker", ["check"]),
        ("Executor", ["execute"]),
        ("Discoverer", ["discover"]),
        ("ModuleValidator", ["validate"]),
        ("SpanExporter", ["export", "shutdown"]),
    ],
)
def test_the_interfaces_of_the_specification_are_types(name: str, methods: list[str]) -> None:
    interface = getattr(interfaces, name)
    has_all = type("HasAll", (), {"priority": 1, **{method: lambda self, *_: None for method in methods}})()
    assert isinstance(has_all, interface)
    for method in methods:
        lacking = {other: (lambda self, *_: None) for other in methods if other != method}
        assert not isinstance(type("Lacks", (), {"priority": 1, **lacking})(), interface)
