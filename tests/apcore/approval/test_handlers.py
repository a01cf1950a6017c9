"""The handler protocol and the handlers that come along."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import apcore
from apcore.acl import ACL
from apcore.approval import (
    AlwaysDenyHandler,
    ApprovalHandler,
    ApprovalRequest,
    ApprovalResult,
    AutoApproveHandler,
    CallbackApprovalHandler,
)
from apcore.errors import ACLDeniedError, ApprovalDeniedError, ApprovalPendingError, InvalidInputError
from apcore.execution import Executor, Rewrite
from apcore.modules import module
from apcore.registry import Registry


@module(id="pay.out", annotations={"requires_approval": True})
def pay(cents: int) -> dict[str, Any]:
    """Pay"""
    return {"paid": cents}


@module(id="pay.look")
def look(cents: int) -> dict[str, Any]:
    """Look"""
    return {"seen": cents}


@pytest.fixture
def registry() -> Registry:
    registry = Registry()
    registry.register("pay.out", pay)
    registry.register("pay.look", look)
    return registry


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest) -> Callable[..., Any]:
    def run(executor: Executor, *arguments: Any) -> Any:
        if request.param == "sync":
            return executor.call(*arguments)
        return asyncio.run(executor.call_async(*arguments))

    return run


class Minimal(ApprovalHandler):
    """Overrides only what it has to."""

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        return ApprovalResult("pending", approval_id="1")


class Duck:
    """Inherits from nothing."""

    def __init__(self) -> None:
        self.requests: list[ApprovalRequest] = []

    def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        self.requests.append(request)
        return ApprovalResult("approved")

    def check_approval(self, approval_id: str) -> ApprovalResult:
        return ApprovalResult("approved")


@pytest.mark.req("R-7.2-01")
def test_anything_with_the_two_methods_is_a_handler(call: Callable[..., Any], registry: Registry) -> None:
    assert isinstance(Duck(), ApprovalHandler)
    assert not isinstance(object(), ApprovalHandler)
    assert call(Executor(registry, approval_handler=Duck()), "pay.out", {"cents": 1}) == {"paid": 1}


@pytest.mark.req("R-7.2-02")
@pytest.mark.parametrize("handler", [AlwaysDenyHandler, AutoApproveHandler, CallbackApprovalHandler])
def test_the_built_in_ones_are_coroutines_and_serve_sync_calls_too(handler: Any, registry: Registry) -> None:
    assert inspect.iscoroutinefunction(handler.request_approval)
    assert inspect.iscoroutinefunction(handler.check_approval)
    executor = Executor(registry, approval_handler=AutoApproveHandler())
    assert executor.call("pay.out", {"cents": 1}) == {"paid": 1}


@pytest.mark.req("R-7.2-03")
def test_by_default_nothing_is_pending(call: Callable[..., Any], registry: Registry) -> None:
    async def check() -> ApprovalResult:
        return await Minimal().check_approval("x")  # type: ignore[misc] # the default is awaitable

    assert asyncio.run(check()).status == "rejected"
    executor = Executor(registry, approval_handler=Minimal())
    with pytest.raises(ApprovalPendingError):
        call(executor, "pay.out", {"cents": 1})
    with pytest.raises(ApprovalDeniedError, match="keeps no pending requests"):
        call(executor, "pay.out", {"cents": 1, "_approval_token": "1"})


@pytest.mark.req("R-7.3.2-01")
def test_a_result_needs_a_status_that_exists_and_nothing_else() -> None:
    result = ApprovalResult("approved")
    assert (result.approved_by, result.reason, result.approval_id, result.metadata) == (None, None, None, None)
    with pytest.raises(ValueError, match="must be one of approved, rejected, timeout, pending"):
        ApprovalResult("ok")  # type: ignore[arg-type]  # what is wrong here


@pytest.mark.parametrize("field", ["approved_by", "reason", "approval_id", "metadata"])
@pytest.mark.parametrize("wrong", [5, ["x"]])
def test_a_result_with_a_field_of_another_type_is_refused(field: str, wrong: Any) -> None:
    with pytest.raises(ValueError, match=rf"ApprovalResult\.{field} must be"):
        ApprovalResult("approved", **{field: wrong})


@pytest.mark.parametrize("wrong", [None, 5, "ask", ApprovalResult])
def test_a_callback_is_a_function(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="function of the request"):
        CallbackApprovalHandler(wrong)


@pytest.mark.req("R-7.3.1-02")
def test_every_request_says_that_it_needs_a_signature(call: Callable[..., Any], registry: Registry) -> None:
    desk = Duck()
    executor = Executor(registry, approval_handler=desk)
    executor.add_rewriter(lambda module_id, inputs, context: Rewrite.ask("because"))
    for module_id in ("pay.out", "pay.look"):
        call(executor, module_id, {"cents": 1})
    assert [request.annotations.requires_approval for request in desk.requests] == [True, True]
    assert registry.get_definition("pay.look").annotations.requires_approval is False


@pytest.mark.req("R-7.1-02")
def test_a_denied_caller_bothers_nobody(call: Callable[..., Any], registry: Registry) -> None:
    desk = Duck()
    with pytest.raises(ACLDeniedError):
        call(Executor(registry, acl=ACL([], "deny"), approval_handler=desk), "pay.out", {"cents": 1})
    assert desk.requests == []


@pytest.mark.req("R-7.8-01", "R-11.8.4-05")
def test_a_handler_may_take_longer_than_a_module(call: Callable[..., Any], registry: Registry) -> None:
    class Slow(AutoApproveHandler):
        async def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
            await asyncio.sleep(0.2)
            return await super().request_approval(request)

    executor = Executor(registry, approval_handler=Slow(), config={"default_timeout": 100, "global_timeout": 100})
    started = time.monotonic()
    assert call(executor, "pay.out", {"cents": 1}) == {"paid": 1}
    assert time.monotonic() - started >= 0.2


@pytest.mark.req("R-7.4-20", "R-7.4-21")
def test_a_retry_starts_from_the_top_and_any_executor_can_serve_it(
    call: Callable[..., Any], registry: Registry
) -> None:
    class Later(Duck):
        def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
            return ApprovalResult("pending", approval_id="7")

    counts: dict[str, int] = {}

    def executor_of_another_process() -> Executor:
        executor = Executor(registry, approval_handler=Later())
        for step in executor.strategy.steps:
            executor.hook_step(step.name, before=count)
        return executor

    def count(state: Any) -> None:
        counts[state.step_name] = counts.get(state.step_name, 0) + 1

    first = executor_of_another_process()
    kept = {name: repr(value) for name, value in vars(first).items()}
    with pytest.raises(ApprovalPendingError):
        call(first, "pay.out", {"cents": 1})
    assert {name: repr(value) for name, value in vars(first).items()} == kept
    assert call(executor_of_another_process(), "pay.out", {"cents": 1, "_approval_token": "7"}) == {"paid": 1}
    assert [counts[name] for name in ("call_chain_guard", "module_lookup", "acl_check")] == [2, 2, 2]
    assert counts["middleware_before"] == 1


@pytest.mark.req("R-7.7-01")
def test_handlers_of_other_protocols_are_not_in_the_core() -> None:
    assert not {name for name in apcore.__all__ if name.startswith(("Elicitation", "A2A", "CLI"))}


def test_a_sync_callback_never_runs_on_the_event_loop(registry: Registry) -> None:
    threads: list[int] = []

    def decide(request: ApprovalRequest) -> ApprovalResult:
        threads.append(threading.get_ident())
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return ApprovalResult("approved")

    executor = Executor(registry, approval_handler=CallbackApprovalHandler(decide))
    assert executor.call("pay.out", {"cents": 1}) == {"paid": 1}
    assert asyncio.run(executor.call_async("pay.out", {"cents": 1})) == {"paid": 1}
    assert threads[0] == threading.get_ident()  # in the caller's transaction


def test_an_async_callback_is_awaited(call: Callable[..., Any], registry: Registry) -> None:
    async def decide(request: ApprovalRequest) -> ApprovalResult:
        await asyncio.sleep(0)
        return ApprovalResult("rejected", reason="no")

    with pytest.raises(ApprovalDeniedError, match="no"):
        call(Executor(registry, approval_handler=CallbackApprovalHandler(decide)), "pay.out", {"cents": 1})
