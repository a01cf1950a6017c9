from __future__ import annotations

import time
from typing import Any

import pytest

from apcore.context import Context
from apcore.errors import InvalidInputError, ModuleTimeoutError
from apcore.execution import Executor, enforce_timeout
from apcore.modules import module
from apcore.registry import Registry


@pytest.fixture
def executor() -> Executor:
    registry = Registry()

    @module(id="time.left", description="How many seconds it may take")
    def left(context: Context) -> dict[str, Any]:
        assert context.deadline is not None
        return {"seconds": context.deadline - time.monotonic(), "chain": list(context.call_chain)}

    @module(id="time.wait", description="Wait until told to stop")
    def wait(context: Context) -> dict[str, Any]:
        assert context.cancel_token is not None
        while not context.cancel_token.is_cancelled:
            time.sleep(0.005)
        return {"late": True}

    for each in (left, wait):
        registry.register(each.id, each)
    return Executor(registry, config={"global_timeout": 50_000, "default_timeout": 0})


@pytest.mark.req("R-12.7.5-05")
def test_a_module_in_time_gives_its_output(executor: Executor) -> None:
    output = enforce_timeout("time.left", {}, Context.create(executor=executor), 20_000)
    assert 0 < output["seconds"] <= 20
    assert output["chain"] == ["time.left"]


def test_a_module_that_is_late_is_told_to_stop_and_its_result_does_not_count(executor: Executor) -> None:
    with pytest.raises(ModuleTimeoutError) as caught:
        enforce_timeout("time.wait", {}, Context.create(executor=executor), 20)
    assert (caught.value.code, caught.value.module_id) == ("MODULE_TIMEOUT", "time.wait")


@pytest.mark.parametrize(("limit", "at_most"), [(0, 50), (90_000, 50), (30_000, 30), (40_000, 40)])
def test_the_limits_of_the_executor_hold_besides(executor: Executor, limit: float, at_most: float) -> None:
    output = enforce_timeout("time.left", None, Context.create(executor=executor), limit)
    assert 0 < output["seconds"] <= at_most


def test_the_time_that_is_left_to_the_caller_holds_besides_and_stays_what_it_is(executor: Executor) -> None:
    context = Context.create(executor=executor, call_chain=["the.caller"])
    context.deadline = time.monotonic() + 10
    before = context.deadline
    output = enforce_timeout("time.left", {}, context, 20_000)
    assert output["seconds"] <= 10
    assert output["chain"] == ["the.caller", "time.left"]
    assert context.deadline == before


def test_a_context_that_was_made_for_the_module_is_its_context(executor: Executor) -> None:
    context = Context.create(executor=executor).child("time.left")
    assert enforce_timeout("time.left", {}, context, 10_000)["chain"] == ["time.left"]
    assert context.deadline is None
    assert enforce_timeout("time.left", {}, context, 20_000)["seconds"] > 10, "each call has a limit of its own"


@pytest.mark.parametrize("limit", [-1, "20", None, True, float("nan")])
def test_a_limit_is_a_number(executor: Executor, limit: Any) -> None:
    with pytest.raises(InvalidInputError, match="timeout_ms must be a number from 0"):
        enforce_timeout("time.left", {}, Context.create(executor=executor), limit)


@pytest.mark.parametrize("context", [Context.create(), None])
def test_a_context_knows_the_executor(context: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"executor|Context"):
        enforce_timeout("time.left", {}, context, 10)
