from __future__ import annotations

import asyncio

import pytest

from apcore import ACL, Executor, Middleware, Registry, module
from apcore.approval import ApprovalResult, CallbackApprovalHandler
from apcore.errors import ModuleError
from apcore.middleware.builtin.metrics import MetricsMiddleware
from apcore.modules import ModuleAnnotations
from apcore.telemetry.metrics import CALLS, DURATION, ERRORS, MetricsCollector


@module(id="m.divide")
def divide(a: int, b: int) -> float:
    """Divide."""
    return a / b


@module(id="m.gated", annotations=ModuleAnnotations(requires_approval=True))
def gated() -> None:
    """Wait for a person."""


@pytest.fixture
def collector() -> MetricsCollector:
    return MetricsCollector()


def executor_with(collector: MetricsCollector, *middlewares: object, acl: ACL | None = None) -> Executor:
    registry = Registry()
    for each in (divide, gated):
        registry.register(each.id, each)
    pending = CallbackApprovalHandler(lambda request: ApprovalResult("pending", approval_id="1"))
    return Executor(
        registry, acl=acl, approval_handler=pending, middlewares=[MetricsMiddleware(collector), *middlewares]
    )


def calls(collector: MetricsCollector, module_id: str, status: str) -> float:
    return collector.value(CALLS, {"module_id": module_id, "status": status})


@pytest.mark.req("R-10.3-01", "R-10.3-02", "R-10.3-03")
def test_successes_and_failures_are_counted_and_timed(collector):
    executor = executor_with(collector)
    executor.call("m.divide", {"a": 1, "b": 1})
    asyncio.run(executor.call_async("m.divide", {"a": 1, "b": 2}))
    with pytest.raises(ModuleError):
        executor.call("m.divide", {"a": 1, "b": 0})

    assert (calls(collector, "m.divide", "success"), calls(collector, "m.divide", "error")) == (2, 1)
    assert collector.value(ERRORS, {"module_id": "m.divide", "error_code": "MODULE_EXECUTE_ERROR"}) == 1
    assert collector.value(f"{DURATION}_count", {"module_id": "m.divide"}) == 3
    assert 0 < collector.value(f"{DURATION}_sum", {"module_id": "m.divide"}) < 3


def test_refusals_are_counted_and_invented_modules_are_not_named(collector):
    executor = executor_with(collector, acl=ACL([], "deny"))
    for module_id in ("m.divide", "m.invented", "m.invented2", 5):
        with pytest.raises(ModuleError):
            executor.call(module_id, {"a": 1, "b": 1})
    assert collector.value(ERRORS, {"module_id": "m.divide", "error_code": "ACL_DENIED"}) == 1
    assert collector.value(ERRORS, {"module_id": "other", "error_code": "MODULE_NOT_FOUND"}) == 2
    assert b"invented" not in collector.exposition()


def test_who_waits_for_a_person_has_not_failed(collector):
    with pytest.raises(ModuleError):
        executor_with(collector).call("m.gated")
    assert calls(collector, "m.gated", "pending") == 1
    assert b"APPROVAL_PENDING" not in collector.exposition()


def test_an_error_that_a_middleware_recovered_from_is_a_success(collector):
    class Recovering(Middleware):
        def on_error(self, *arguments):
            return {"result": 0.0}

    executor_with(collector, Recovering()).call("m.divide", {"a": 1, "b": 0})
    assert (calls(collector, "m.divide", "success"), calls(collector, "m.divide", "error")) == (1, 0)


def test_checks_and_calls_that_go_only_part_of_the_way_are_not_counted(collector):
    executor = executor_with(collector)
    executor.validate("m.divide", {"a": 1, "b": 1})
    executor.call("m.divide", {"a": 1, "b": 1}, run_until=lambda state: state.step_name == "acl_check")
    assert b'module_id="m.divide"' not in collector.exposition()
