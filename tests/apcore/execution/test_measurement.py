from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from apcore.approval import ApprovalRequest, ApprovalResult, AutoApproveHandler, CallbackApprovalHandler
from apcore.context import Context
from apcore.effects import EffectRecord
from apcore.errors import ModuleExecuteError
from apcore.execution import Executor
from apcore.modules import Change, Plan, PlannedModule
from apcore.registry import Registry

Call = Callable[..., Any]


class Careless(PlannedModule):
    """Puts into its plan what no approver can be shown."""

    description = "Plans with Python values"
    annotations = {"requires_approval": True}
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] = {}

    def __init__(self, value: Any) -> None:
        self.value = value

    def plan(self, inputs: Any, context: Context) -> Plan:
        return Plan([Change("update", "price", "Raise the price", after=self.value)])

    def apply(self, plan: Plan, context: Context) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("value", [Decimal("1.5"), date(2026, 1, 1), float("nan"), {1, 2}, 10**5000], ids=type)
def test_a_change_that_is_no_json_is_an_error_that_says_so(call: Call, value: Any) -> None:
    registry = Registry()
    registry.register("price.raise", Careless(value))
    executor = Executor(registry, approval_handler=AutoApproveHandler())
    with pytest.raises(ModuleExecuteError, match="JSON"):
        call(executor, "price.raise")
    assert "JSON" in executor.validate("price.raise").checks[-1].warnings[0]


def test_what_is_shown_does_not_follow_what_the_module_goes_on_working_with(call: Call) -> None:
    prices = {"EUR": [1]}
    shown: list[Any] = []

    def decide(request: ApprovalRequest) -> ApprovalResult:
        assert request.effect is not None
        prices["EUR"].append(2)
        shown.append(request.effect.changes[0].after)
        prices["EUR"].pop()
        return ApprovalResult("approved")

    registry = Registry()
    registry.register("price.raise", Careless(prices))
    call(Executor(registry, approval_handler=CallbackApprovalHandler(decide)), "price.raise")
    assert shown == [{"EUR": [1]}]


def test_what_is_shown_does_not_follow_the_further_fields_of_a_change_either(call: Call) -> None:
    change = Change("update", "price", "Raise", **{"x-alias": "default"})
    shown: list[EffectRecord] = []

    class Alert(Careless):
        def plan(self, inputs: Any, context: Context) -> Plan:
            return Plan([change])

    def decide(request: ApprovalRequest) -> ApprovalResult:
        assert request.effect is not None
        change.extras["x-alias"] = "other"
        shown.append(request.effect)
        change.extras["x-alias"] = "default"
        return ApprovalResult("approved")

    registry = Registry()
    registry.register("price.raise", Alert(None))
    call(Executor(registry, approval_handler=CallbackApprovalHandler(decide)), "price.raise")
    assert shown[0].changes[0].extras == {"x-alias": "default"}
    assert shown[0].digest == EffectRecord.build("planned", [change]).digest
