from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.approval import AutoApproveHandler
from apcore.context import CancelToken, Context
from apcore.errors import (
    ApprovalTimeoutError,
    ExecutionCancelledError,
    InternalError,
    InvalidInputError,
    ModuleError,
    ModuleExecuteError,
    ModuleTimeoutError,
)
from apcore.execution import Executor, SyncRunner
from apcore.middleware import Middleware, Retry
from apcore.middleware.builtin.retry import RetryMiddleware
from apcore.modules import ModuleAnnotations
from apcore.registry import Registry

pytestmark = pytest.mark.filterwarnings("error")


class Flaky:
    """Fails as often as it is told, then answers."""

    description = "Fails a few times"
    input_schema = {"type": "object", "properties": {"words": {"type": "array"}}}
    output_schema = {"type": "object"}

    def __init__(self, *errors: BaseException, idempotent: bool = True, requires_approval: bool = False) -> None:
        self.errors = list(errors)
        self.seen: list[Any] = []
        self.tokens: list[bool] = []
        self.annotations = ModuleAnnotations(idempotent=idempotent, requires_approval=requires_approval)

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        self.seen.append({"words": list(inputs.get("words", [])), "attempt": context.attempt})
        assert context.cancel_token is not None
        self.tokens.append(context.cancel_token.is_cancelled)
        inputs["words"] = ["spoilt"]
        if self.errors:
            raise self.errors.pop(0)
        return {"ok": True}


def transient() -> InternalError:
    return InternalError("the network hiccuped")


def executor_with(module: Any, *middlewares: Any, **options: Any) -> Executor:
    registry = Registry()
    registry.register("flaky.one", module)
    return Executor(registry, middlewares=middlewares, **options)


def quick(**options: Any) -> RetryMiddleware:
    return RetryMiddleware(**{"base_delay_ms": 1, "jitter": 0, **options})


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest) -> Callable[..., Any]:
    def run(executor: Executor, inputs: dict[str, Any] | None = None, context: Context | None = None) -> Any:
        if request.param == "sync":
            return executor.call("flaky.one", inputs or {}, context)
        return asyncio.run(executor.call_async("flaky.one", inputs or {}, context))

    return run


@pytest.mark.req("R-8.6-01", "R-8.6-02")
def test_nothing_is_retried_unless_a_middleware_says_so(call: Callable[..., Any]) -> None:
    module = Flaky(transient())
    with pytest.raises(InternalError):
        call(executor_with(module))
    assert len(module.seen) == 1


@pytest.mark.req("R-8.6-02", "R-8.6-04")
@pytest.mark.parametrize("error", [transient(), ValueError("any"), ModuleExecuteError("x"), ModuleTimeoutError("late")])
def test_an_idempotent_module_is_tried_again_with_the_inputs_of_the_first_time(
    call: Callable[..., Any], error: BaseException
) -> None:
    module = Flaky(error)
    assert call(executor_with(module, quick()), {"words": ["a"]}) == {"ok": True}
    assert module.seen == [{"words": ["a"], "attempt": 1}, {"words": ["a"], "attempt": 2}]


@pytest.mark.req("R-8.6-04", "R-8.6-06")
@pytest.mark.parametrize("error", [transient(), ModuleExecuteError("x")])
def test_a_module_that_is_not_idempotent_runs_once(call: Callable[..., Any], error: ModuleError) -> None:
    module = Flaky(error, idempotent=False)
    with pytest.raises(type(error)):
        call(executor_with(module, quick()))
    assert len(module.seen) == 1


@pytest.mark.req("R-8.6-05")
@pytest.mark.parametrize(
    "error",
    [
        InvalidInputError("no"),
        ModuleError("who knows", code="OWN_CODE"),
        InternalError("not this time", retryable=False),
        ApprovalTimeoutError(None, "asking people again is not for a machine"),
    ],
)
def test_errors_that_are_not_marked_as_retryable_are_final(call: Callable[..., Any], error: ModuleError) -> None:
    module = Flaky(error)
    with pytest.raises(ModuleError) as caught:
        call(executor_with(module, quick()))
    assert caught.value is error
    assert len(module.seen) == 1
    assert "attempts" not in error.details


@pytest.mark.req("R-8.6-05")
def test_a_call_that_the_access_list_denies_never_comes_to_it(call: Callable[..., Any]) -> None:
    from apcore.acl import ACL
    from apcore.errors import ACLDeniedError

    module = Flaky()
    with pytest.raises(ACLDeniedError):
        call(executor_with(module, quick(), acl=ACL([], default_effect="deny")))
    assert module.seen == []


@pytest.mark.req("R-8.6-08")
def test_after_the_last_attempt_the_error_says_how_many_there_were(call: Callable[..., Any]) -> None:
    module = Flaky(*(transient() for _ in range(9)))
    with pytest.raises(InternalError) as caught:
        call(executor_with(module, quick(max_retries=3)))
    assert len(module.seen) == 4
    assert caught.value.details["attempts"] == {"flaky.one": 4}


@pytest.mark.req("R-8.6-08")
@pytest.mark.parametrize(
    "options",
    [
        {"max_retries": 6},
        {"max_retries": 0},
        {"max_retries": True},
        {"max_retries": 1.5},
        {"base_delay_ms": -1},
        {"factor": 0.5},
        {"jitter": 1.1},
        {"max_delay_ms": float("nan")},
        {"max_delay_ms": "1s"},
    ],
)
def test_settings_out_of_range_are_refused(options: dict[str, Any]) -> None:
    [name] = options
    with pytest.raises(InvalidInputError, match=name):
        RetryMiddleware(**options)
    assert RetryMiddleware()._max_retries <= 5


class RecordingRunner(SyncRunner):
    pauses: list[float]

    async def pause(self, seconds: float, token: CancelToken | None) -> None:
        self.pauses.append(seconds)


def pauses_of(middleware: RetryMiddleware, module: Flaky) -> list[float]:
    pauses: list[float] = []

    def make(deadlines: Any) -> RecordingRunner:
        runner = RecordingRunner(deadlines)
        runner.pauses = pauses
        return runner

    with pytest.raises(InternalError):
        executor_with(module, middleware, runners=(make, make), config={"global_timeout": 0}).call("flaky.one", {})
    return pauses


@pytest.mark.req("R-8.6-07")
def test_pauses_grow_by_a_factor_up_to_a_cap() -> None:
    module = Flaky(*(transient() for _ in range(6)))
    middleware = RetryMiddleware(max_retries=5, base_delay_ms=100, factor=3, max_delay_ms=2_000, jitter=0)
    assert pauses_of(middleware, module) == pytest.approx([0.1, 0.3, 0.9, 2.0, 2.0])


@pytest.mark.req("R-8.6-07")
@given(st.floats(0, 1), st.integers(1, 5), st.floats(0, 1))
def test_jitter_takes_away_its_share_at_most(jitter: float, number: int, drawn: float) -> None:
    middleware = RetryMiddleware(
        max_retries=5,
        base_delay_ms=100,
        max_delay_ms=700,
        jitter=jitter,
        uniform=lambda low, high: low + drawn * (high - low),
    )
    delay = middleware._delay_ms(number, transient())
    full = min(100 * 2 ** (number - 1), 700)
    assert delay is not None
    assert full * (1 - jitter) - 1e-9 <= delay <= full + 1e-9


@pytest.mark.parametrize(("asked_for", "expected"), [(1_500, [1.5]), (6_000, []), (5, [0.1]), ("soon", [0.1])])
def test_an_error_may_ask_for_time(asked_for: Any, expected: list[float]) -> None:
    errors = [InternalError("busy", details={"retry_after_ms": asked_for}) for _ in range(2)]
    assert pauses_of(RetryMiddleware(max_retries=1, jitter=0), Flaky(*errors)) == pytest.approx(expected)


def test_no_attempt_is_made_that_the_deadline_would_cut_off(
    call: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "apcore.execution")
    module = Flaky(*(transient() for _ in range(5)))
    started = time.monotonic()
    with pytest.raises(InternalError):
        call(executor_with(module, quick(base_delay_ms=5_000, max_retries=5), config={"global_timeout": 4_000}))
    assert len(module.seen) == 1
    assert time.monotonic() - started < 4  # nobody waited for the deadline either
    assert "deadline" in caplog.text


def test_the_time_that_hooks_get_after_the_deadline_is_none_for_attempts(call: Callable[..., Any]) -> None:
    class Slow(Flaky):
        def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            super().execute(inputs, context)
            time.sleep(0.3)
            return {}

    module = Slow()
    with pytest.raises(ModuleTimeoutError):
        call(executor_with(module, quick(), config={"global_timeout": 100}))
    assert len(module.seen) == 1


def test_an_attempt_that_was_late_is_followed_by_one_with_a_fresh_token(call: Callable[..., Any]) -> None:
    class SlowOnce(Flaky):
        def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            super().execute(inputs, context)
            if context.attempt == 1:
                time.sleep(0.2)
            return {"ok": True}

    module = SlowOnce()
    assert call(executor_with(module, quick(), config={"default_timeout": 60})) == {"ok": True}
    assert module.tokens == [False, False]


def test_a_cancelled_call_is_not_tried_again(call: Callable[..., Any]) -> None:
    token = CancelToken()

    class Cancelled(Flaky):
        def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            token.cancel("enough")
            return super().execute(inputs, context)

    module = Cancelled(transient())
    with pytest.raises(InternalError):
        call(executor_with(module, quick()), {}, Context.create(cancel_token=token))
    assert len(module.seen) == 1


def test_cancelling_ends_the_pause(call: Callable[..., Any]) -> None:
    token = CancelToken()
    module = Flaky(transient())
    timer = threading.Timer(0.1, token.cancel)
    timer.start()
    started = time.monotonic()
    with pytest.raises(ExecutionCancelledError, match="waiting"):
        call(executor_with(module, quick(base_delay_ms=5_000)), {}, Context.create(cancel_token=token))
    assert time.monotonic() - started < 2
    timer.join()


def test_waiting_for_an_attempt_leaves_the_loop_to_others() -> None:
    executor = executor_with(Flaky(transient()), quick(base_delay_ms=200))

    async def main() -> int:
        ticks = 0
        task = asyncio.ensure_future(executor.call_async("flaky.one", {}))
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert task.result() == {"ok": True}
        return ticks

    assert asyncio.run(main()) >= 5


def test_a_task_that_is_cancelled_while_it_waits_tells_the_layers_outside() -> None:
    told: list[str] = []

    class Outer(Middleware):
        def on_error(self, module_id: str, inputs: Any, error: ModuleError, context: Context) -> None:
            told.append(error.code)

    executor = executor_with(Flaky(transient()), quick(base_delay_ms=5_000), Outer())
    executor.remove("outer")
    executor.use(Outer(), priority=900)

    async def main() -> None:
        task = asyncio.ensure_future(executor.call_async("flaky.one", {}))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert told == ["EXECUTION_CANCELLED"]


def test_an_approval_covers_one_execution(call: Callable[..., Any]) -> None:
    module = Flaky(transient(), requires_approval=True)
    with pytest.raises(InternalError):
        call(executor_with(module, quick(), approval_handler=AutoApproveHandler()))
    assert len(module.seen) == 1


def test_what_an_inner_call_tried_in_vain_is_not_tried_again_outside(call: Callable[..., Any]) -> None:
    inner = Flaky(*(transient() for _ in range(9)))

    class Outer(Flaky):
        def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            super().execute(inputs, context)
            return dict(context.executor.call("inner.one", {}, context))

    outer = Outer()
    executor = executor_with(outer, quick())
    executor.registry.register("inner.one", inner)
    with pytest.raises(InternalError) as caught:
        call(executor)
    assert (len(outer.seen), len(inner.seen)) == (1, 3)
    assert caught.value.details["attempts"] == {"inner.one": 3}


def test_a_module_that_has_finished_does_not_run_twice_for_an_after_hook(call: Callable[..., Any]) -> None:
    class Picky(Middleware):
        def after(self, *_: Any) -> Any:
            raise transient()

    module = Flaky()
    with pytest.raises(InternalError):
        call(executor_with(module, quick(), Picky()))
    assert len(module.seen) == 1


def test_layers_further_in_are_passed_for_each_attempt_those_outside_once(call: Callable[..., Any]) -> None:
    log: list[str] = []

    class Layer(Middleware):
        def __init__(self, name: str, priority: int) -> None:
            self.name, self.priority = name, priority

        def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            log.append(f"{self.name}.before")
            return {"words": [*inputs.get("words", []), self.name]}

        def after(self, *_: Any) -> None:
            log.append(f"{self.name}.after")

        def on_error(self, *_: Any) -> None:
            log.append(f"{self.name}.on_error")

    module = Flaky(transient())
    call(executor_with(module, Layer("out", 800), quick(), Layer("in", 600)))
    assert log == ["out.before", "in.before", "in.on_error", "in.before", "in.after", "out.after"]
    assert [each["words"] for each in module.seen] == [["out", "in"], ["out", "in"]]


@pytest.mark.req("R-11.1-03")
def test_only_a_middleware_that_says_can_retry_may_ask(
    call: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    class Sneaky(Middleware):
        def on_error(self, *_: Any) -> Retry:
            return Retry()

    module = Flaky(transient())
    with pytest.raises(InternalError):
        call(executor_with(module, Sneaky()))
    assert len(module.seen) == 1
    assert "can_retry" in caplog.text


def test_no_middleware_has_a_call_tried_more_than_six_times(call: Callable[..., Any]) -> None:
    class Stubborn(Middleware):
        can_retry = True

        async def on_error(self, *_: Any) -> Retry:
            return Retry()

    module = Flaky(*(transient() for _ in range(20)))
    with pytest.raises(InternalError):
        call(executor_with(module, Stubborn()))
    assert len(module.seen) == 6


def test_inputs_that_cannot_be_copied_are_tried_once(
    call: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    class Unique(list[str]):
        def __deepcopy__(self, memo: Any) -> Any:
            raise RuntimeError("there is only one of me")

    module = Flaky(transient())
    with pytest.raises(InternalError):
        call(executor_with(module, quick()), {"words": Unique()})
    assert len(module.seen) == 1
    assert "cannot be copied" in caplog.text


def test_each_attempt_is_logged_without_inputs(call: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    module = Flaky(transient())
    call(executor_with(module, quick()), {"words": ["hunter2"]})
    assert "attempt 2 of 3" in caplog.text
    assert "hunter2" not in caplog.text


def test_chunks_that_have_left_cannot_be_taken_back() -> None:
    class Streams(Flaky):
        async def stream(self, inputs: dict[str, Any], context: Context) -> Any:
            self.seen.append(context.attempt)
            if context.attempt == 1 and not self.errors:
                raise transient()
            yield {"a": 1}
            if self.errors:
                raise self.errors.pop()

    async def chunks(module: Flaky) -> list[Any]:
        return [chunk async for chunk in executor_with(module, quick()).stream("flaky.one", {})]

    before_the_first = Streams()
    assert asyncio.run(chunks(before_the_first)) == [{"a": 1}]
    assert before_the_first.seen == [1, 2]
    after_it = Streams(transient())
    with pytest.raises(InternalError):
        asyncio.run(chunks(after_it))
    assert after_it.seen == [1]
