from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from apcore.context import Context
from apcore.errors import (
    CircuitBreakerOpenError,
    ExecutionCancelledError,
    InternalError,
    InvalidInputError,
    ModuleError,
)
from apcore.execution import Executor
from apcore.middleware import Middleware
from apcore.middleware.builtin.circuit_breaker import CircuitBreakerMiddleware
from apcore.middleware.builtin.retry import RetryMiddleware
from apcore.modules import ModuleAnnotations
from apcore.registry import Registry


class Clock:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


class Moody:
    """Does as it is told by `error`."""

    description = "Fails while it is told to"
    input_schema = {"type": "object"}
    output_schema = {"type": "object"}
    annotations = ModuleAnnotations(idempotent=True)

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.runs = 0

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        self.runs += 1
        if self.error is not None:
            raise self.error
        return {"ok": True}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreakerMiddleware:
    return CircuitBreakerMiddleware(min_calls=3, calls=10, open_ms=2_000, clock=clock)


@pytest.fixture
def module() -> Moody:
    return Moody()


@pytest.fixture
def executor(module: Moody, breaker: CircuitBreakerMiddleware) -> Executor:
    registry = Registry()
    registry.register("moody.one", module)
    registry.register("moody.two", Moody())
    return Executor(registry, middlewares=[breaker])


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest, executor: Executor) -> Callable[..., Any]:
    def run(module_id: str = "moody.one") -> Any:
        if request.param == "sync":
            return executor.call(module_id, {})
        return asyncio.run(executor.call_async(module_id, {}))

    return run


def fail(call: Callable[..., Any], module: Moody, times: int, error: BaseException | None = None) -> None:
    module.error = error or InternalError("down")
    for _ in range(times):
        with pytest.raises(ModuleError):
            call()
    module.error = None


def test_it_opens_for_one_module_and_says_when_to_come_back(
    call: Callable[..., Any],
    module: Moody,
    clock: Clock,
    breaker: CircuitBreakerMiddleware,
    caplog: pytest.LogCaptureFixture,
) -> None:
    fail(call, module, 3)
    clock.now += 0.5
    with pytest.raises(CircuitBreakerOpenError) as caught:
        call()
    assert module.runs == 3
    assert caught.value.details["retry_after_ms"] == 1_500
    assert "1500 ms" in caught.value.message
    assert caught.value.suggestion is not None
    assert caught.value.ai_guidance is not None
    assert (breaker.state("moody.one"), breaker.state("moody.two")) == ("open", "closed")
    assert call("moody.two") == {"ok": True}
    assert "is open now" in caplog.text


def test_a_probe_that_succeeds_closes_it(
    call: Callable[..., Any], module: Moody, clock: Clock, breaker: CircuitBreakerMiddleware
) -> None:
    fail(call, module, 3)
    clock.now += 2
    assert call() == {"ok": True}
    assert breaker.state("moody.one") == "closed"
    fail(call, module, 2)
    assert call() == {"ok": True}


def test_a_probe_that_fails_opens_it_again(
    call: Callable[..., Any], module: Moody, clock: Clock, breaker: CircuitBreakerMiddleware
) -> None:
    fail(call, module, 3)
    clock.now += 2
    fail(call, module, 1)
    with pytest.raises(CircuitBreakerOpenError):
        call()
    assert module.runs == 4
    assert breaker.state("moody.one") == "open"


@pytest.mark.parametrize("error", [InvalidInputError("yours"), ExecutionCancelledError(), CircuitBreakerOpenError()])
def test_errors_that_are_not_its_own_do_not_open_it(
    call: Callable[..., Any], module: Moody, breaker: CircuitBreakerMiddleware, error: ModuleError
) -> None:
    fail(call, module, 12, error)
    assert breaker.state("moody.one") == "closed"


def test_a_probe_that_was_recovered_further_in_does_not_keep_it_half_open(
    executor: Executor, call: Callable[..., Any], module: Moody, clock: Clock
) -> None:
    fail(call, module, 3)

    class Recovers(Middleware):
        def on_error(self, *_: Any) -> dict[str, Any]:
            return {"ok": False}

    executor.use(Recovers(), id="recovers")
    clock.now += 2
    module.error = InternalError("still down")
    assert call() == {"ok": False}
    module.error = None
    with pytest.raises(CircuitBreakerOpenError):
        call()
    clock.now += 2
    assert call() == {"ok": True}


def test_every_attempt_of_a_retry_counts_and_an_open_circuit_ends_it(
    executor: Executor, call: Callable[..., Any], module: Moody
) -> None:
    executor.use(RetryMiddleware(max_retries=5, base_delay_ms=1, max_delay_ms=10))
    module.error = InternalError("down")
    with pytest.raises(CircuitBreakerOpenError):
        call()
    assert module.runs == 3


def test_no_trace_of_a_call_stays_in_its_data(executor: Executor, module: Moody) -> None:
    context = Context.create()
    executor.call("moody.one", {}, context)
    module.error = InternalError("down")
    with pytest.raises(InternalError):
        executor.call("moody.one", {}, context)
    assert not [key for key in context.data if "circuit" in key]


@pytest.mark.parametrize(
    "options",
    [
        {"failure_rate": 0},
        {"failure_rate": 1.5},
        {"min_calls": 0},
        {"calls": 2.5},
        {"window_ms": 0},
        {"open_ms": float("nan")},
        {"probes": True},
        {"min_calls": 200},
    ],
)
def test_settings_out_of_range_are_refused(options: dict[str, Any]) -> None:
    [name] = options
    with pytest.raises(InvalidInputError, match=name):
        CircuitBreakerMiddleware(**options)


def test_an_output_that_does_not_fit_is_a_failure_of_the_module(breaker: CircuitBreakerMiddleware) -> None:
    class Wrong(Moody):
        output_schema = {"type": "object", "required": ["missing"]}

    registry = Registry()
    registry.register("moody.wrong", Wrong())
    executor = Executor(registry, middlewares=[breaker])
    for _ in range(3):
        with pytest.raises(ModuleError):
            executor.call("moody.wrong", {})
    assert breaker.state("moody.wrong") == "open"


def test_inputs_that_do_not_fit_are_the_callers_fault(breaker: CircuitBreakerMiddleware) -> None:
    class Strict(Moody):
        input_schema = {"type": "object", "required": ["missing"]}

    registry = Registry()
    registry.register("moody.strict", Strict())
    executor = Executor(registry, middlewares=[breaker])
    for _ in range(3):
        with pytest.raises(ModuleError):
            executor.call("moody.strict", {})
    assert breaker.state("moody.strict") == "closed"
