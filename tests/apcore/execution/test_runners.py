from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from typing import Any

import pytest

from apcore.context import Context
from apcore.errors import ModuleExecuteError, ModuleTimeoutError
from apcore.execution import Executor
from apcore.modules import FunctionModule, ModuleAnnotations, module
from apcore.registry import Registry

Call = Callable[..., Any]
SHORT = {"default_timeout": 60, "grace_period": 5000}
seen: ContextVar[int] = ContextVar("seen", default=0)


def executor_for(*modules: FunctionModule, **limits: int) -> Executor:
    registry = Registry()
    for each in modules:
        registry.register(each.id, each)
    return Executor(registry, config=limits)


def call_in_a_loop(executor: Executor, *arguments: Any) -> Any:
    """A sync call from a coroutine, which blocks its loop."""

    async def run() -> Any:
        return executor.call(*arguments)

    return asyncio.run(run())


@pytest.fixture(params=["sync", "async", "sync in a loop"])
def any_call(request: pytest.FixtureRequest) -> Call:
    return {
        "sync": lambda executor, *arguments: executor.call(*arguments),
        "async": lambda executor, *arguments: asyncio.run(executor.call_async(*arguments)),
        "sync in a loop": call_in_a_loop,
    }[request.param]


@pytest.mark.req("R-12.7.5-01", "R-12.7.7-02")
def test_an_async_module_ends_at_its_deadline_whoever_calls_it(any_call: Call) -> None:
    ended: list[str] = []

    @module(id="slow.coroutine")
    async def slow(context: Context) -> dict[str, Any]:
        """Sleep for long"""
        try:
            await asyncio.sleep(20)
        finally:
            assert context.cancel_token is not None
            ended.append(context.cancel_token.reason or "not told")
        return {}

    started = time.monotonic()
    with pytest.raises(ModuleTimeoutError):
        any_call(executor_for(slow, **SHORT), "slow.coroutine")
    assert time.monotonic() - started < 10
    assert ended == ["the deadline has passed"]


class Disguised:
    """A coroutine that does not look like one."""

    description = "Returns an awaitable"
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] = {}

    def execute(self, inputs: dict[str, Any], context: Context) -> Awaitable[dict[str, Any]]:
        return asyncio.sleep(20, {})


def test_an_awaitable_that_a_plain_function_returns_has_a_deadline_too(any_call: Call) -> None:
    registry = Registry()
    registry.register("slow.disguised", Disguised())
    started = time.monotonic()
    with pytest.raises(ModuleTimeoutError):
        any_call(Executor(registry, config=SHORT), "slow.disguised")
    assert time.monotonic() - started < 10


def test_what_an_async_module_returns_after_its_deadline_is_dropped(any_call: Call) -> None:
    @module(id="late.stubborn")
    async def stubborn() -> dict[str, Any]:
        """Swallow the cancellation"""
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(20)
        return {"late": True}

    @module(id="late.blocking")
    async def blocking() -> dict[str, Any]:
        """Never give the loop a chance"""
        time.sleep(0.15)  # noqa: ASYNC251 - that is the point
        return {"late": True}

    @module(id="late.failing")
    async def failing() -> dict[str, Any]:
        """Fail because of the cancellation"""
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError as error:
            raise ValueError("interrupted") from error
        return {}

    executor = executor_for(stubborn, blocking, failing, **SHORT)
    for module_id in ("late.stubborn", "late.blocking", "late.failing"):
        with pytest.raises(ModuleTimeoutError):
            any_call(executor, module_id)


def test_a_module_that_waited_in_the_queue_until_its_deadline_does_not_start() -> None:
    started: list[int] = []

    @module(id="queue.work")
    def work(n: int) -> dict[str, Any]:
        """Take a while"""
        started.append(n)
        time.sleep(0.1)
        return {}

    executor = executor_for(work, default_timeout=250, grace_period=5000)

    async def run() -> list[Any]:
        calls = (executor.call_async("queue.work", {"n": n}) for n in range(8))
        return await asyncio.gather(*calls, return_exceptions=True)

    results = asyncio.run(run())
    assert isinstance(results[-1], ModuleTimeoutError)
    assert len(started) < 5


@pytest.mark.parametrize("error", [StopIteration("3"), StopAsyncIteration(), GeneratorExit(), RecursionError()])
@pytest.mark.parametrize("is_async", [False, True])
def test_no_exception_of_a_module_leaves_the_caller_waiting(
    any_call: Call, error: BaseException, is_async: bool
) -> None:
    @module(id="odd.sync")
    def fail() -> dict[str, Any]:
        """Raise"""
        raise error

    @module(id="odd.async")
    async def fail_async() -> dict[str, Any]:
        """Raise"""
        raise error

    outcome: list[BaseException] = []

    def run() -> None:
        try:
            any_call(executor_for(fail, fail_async), "odd.async" if is_async else "odd.sync")
        except BaseException as raised:  # noqa: BLE001 - whatever it is
            outcome.append(raised)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive(), "the caller waits for ever"
    assert isinstance(outcome[0], GeneratorExit if isinstance(error, GeneratorExit) else ModuleExecuteError)


def test_a_cancellation_that_comes_from_inside_the_module_is_a_failure(any_call: Call) -> None:
    @module(id="odd.cancelled")
    async def cancelled() -> dict[str, Any]:
        """Wait for something that was cancelled"""
        task = asyncio.ensure_future(asyncio.sleep(5))
        task.cancel()
        await task
        return {}

    with pytest.raises(ModuleExecuteError, match="CancelledError"):
        any_call(executor_for(cancelled), "odd.cancelled")


@pytest.mark.req("R-12.7.5-01")
def test_a_module_in_a_thread_is_told_that_its_caller_was_cancelled() -> None:
    running, told = threading.Event(), threading.Event()

    @module(id="slow.thread")
    def wait(context: Context) -> dict[str, Any]:
        """Wait for the cancellation"""
        running.set()
        token = context.cancel_token
        assert token is not None
        for _ in range(500):
            if token.is_cancelled:
                told.set()
                break
            time.sleep(0.01)
        return {}

    executor = executor_for(wait)

    async def run() -> None:
        task = asyncio.create_task(executor.call_async("slow.thread"))
        assert await asyncio.to_thread(running.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert told.wait(5)


@pytest.mark.req("R-12.7.7-06")
@pytest.mark.parametrize("module_id", ["vars.sync", "vars.async"])
def test_context_variables_go_in_and_come_out(module_id: str) -> None:
    @module(id="vars.sync")
    def plain() -> dict[str, Any]:
        """Read and write"""
        before = seen.get()
        seen.set(before + 1)
        return {"before": before}

    @module(id="vars.async")
    async def coroutine() -> dict[str, Any]:
        """Read and write"""
        await asyncio.sleep(0)
        before = seen.get()
        seen.set(before + 1)
        return {"before": before}

    executor = executor_for(plain, coroutine)

    async def run_async(call: Callable[[], Awaitable[Any]]) -> tuple[Any, int]:
        seen.set(10)
        return await call(), seen.get()

    async def blocking() -> Any:
        return executor.call(module_id)

    assert asyncio.run(run_async(lambda: executor.call_async(module_id))) == ({"before": 10}, 11)
    assert asyncio.run(run_async(blocking)) == ({"before": 10}, 11)
    seen.set(20)
    assert (executor.call(module_id), seen.get()) == ({"before": 20}, 21)


KINDS = ("plain", "coroutine", "blocking coroutine")


def link(kind: str, module_id: str, following: str | None) -> FunctionModule:
    """A module of a kind that calls the following one in its way."""

    def plain(context: Context) -> dict[str, Any]:
        """Call on"""
        return context.executor.call(following, {}, context) if following else {"end": True}

    async def blocking(context: Context) -> dict[str, Any]:
        """Call on, blocking the loop"""
        return plain(context)

    async def coroutine(context: Context) -> dict[str, Any]:
        """Call on, awaiting"""
        return await context.executor.call_async(following, {}, context) if following else {"end": True}

    functions: dict[str, Any] = {"plain": plain, "coroutine": coroutine, "blocking coroutine": blocking}
    return module(functions[kind], id=module_id)


@pytest.mark.req("R-12.7.7-02", "R-12.7.7-04")
def test_sync_and_async_modules_call_each_other_in_every_order(any_call: Call) -> None:
    for kinds in itertools.product(KINDS, repeat=3):
        ids = [f"mix.n{index}" for index in range(4)]
        chain = zip((*kinds, "plain"), ids, (*ids[1:], None), strict=True)
        executor = executor_for(*(link(*each) for each in chain))
        assert any_call(executor, "mix.n0") == {"end": True}, kinds


def test_a_thousand_tasks_and_many_threads_get_their_own_answers() -> None:
    @module(id="many.plain")
    def plain(n: int) -> dict[str, Any]:
        """Echo"""
        return {"n": n}

    @module(id="many.coroutine")
    async def coroutine(n: int) -> dict[str, Any]:
        """Echo, later"""
        await asyncio.sleep(0)
        return {"n": n}

    executor = executor_for(plain, coroutine)

    async def run() -> list[Any]:
        ids = ("many.plain", "many.coroutine")
        return await asyncio.gather(*(executor.call_async(ids[n % 2], {"n": n}) for n in range(1000)))

    assert asyncio.run(run()) == [{"n": n} for n in range(1000)]

    wrong: list[int] = []

    def work(n: int) -> None:
        wrong.extend(n for _ in range(20) if executor.call("many.plain", {"n": n}) != {"n": n})

    threads = [threading.Thread(target=work, args=(n,)) for n in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("limit", [0, 30_000])
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.filterwarnings("ignore:.*no such time limit")
def test_a_module_that_exits_ends_its_call_and_not_the_process(any_call: Call, is_async: bool, limit: int) -> None:
    if is_async:

        @module(id="leaves")
        async def leave() -> dict[str, Any]:
            """Exit"""
            sys.exit("the password is hunter2")
    else:

        @module(id="leaves")
        def leave() -> dict[str, Any]:
            """Exit"""
            sys.exit("the password is hunter2")

    with pytest.raises(ModuleExecuteError) as failed:
        any_call(executor_for(leave, default_timeout=limit, global_timeout=limit), "leaves")
    assert failed.value.details["type"] == "SystemExit"
    assert "hunter2" not in str(failed.value.to_dict())


def test_a_worker_that_is_told_to_stop_stops() -> None:
    class ToldToStop(SystemExit):
        """What a worker raises from its signal handler, wherever the module just is."""

    @module(id="works")
    def work() -> dict[str, Any]:
        """Work"""
        raise ToldToStop

    with pytest.raises(ToldToStop):
        executor_for(work).call("works")


def late_modules(end: BaseException) -> list[Any]:
    """What ends with ``end`` once its deadline has passed."""

    @module(id="late.sync")
    def late(context: Context) -> dict[str, Any]:
        """End late"""
        assert context.cancel_token is not None
        while not context.cancel_token.is_cancelled:
            time.sleep(0.001)
        raise end

    @module(id="late.async")
    async def late_async(context: Context) -> dict[str, Any]:
        """End late"""
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(20)
        raise end

    return [late, late_async]


@pytest.mark.parametrize("module_id", ["late.sync", "late.async"])
def test_an_exit_that_comes_late_is_a_time_out_and_an_order_to_stop_is_none(any_call: Call, module_id: str) -> None:
    class ToldToStop(SystemExit):
        """What a worker raises from its signal handler."""

    for end, expected in ((SystemExit(1), ModuleTimeoutError), (ToldToStop(), ToldToStop)):
        with pytest.raises(expected):
            any_call(executor_for(*late_modules(end), **SHORT), module_id)


def stubborn_modules() -> list[Any]:
    """What does not end at its deadline: it swallows cancellations, tidies up for ever, or never awaits."""

    @module(id="deaf.swallows")
    async def swallows() -> dict[str, Any]:
        """Go on after each cancellation"""
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(20)

    @module(id="deaf.tidies")
    async def tidies() -> dict[str, Any]:
        """Take long to end"""
        try:
            await asyncio.sleep(20)
        finally:
            await asyncio.sleep(20)
        return {}

    @module(id="deaf.spins")
    async def spins() -> dict[str, Any]:
        """Never give the loop a chance"""
        while True:
            pass

    return [swallows, tidies, spins]


IMPATIENT = {"default_timeout": 150, "grace_period": 50}


@pytest.mark.req("R-12.7.5-03", "R-12.7.5-04", "R-12.7.5-05")
@pytest.mark.parametrize("module_id", ["deaf.swallows", "deaf.tidies", "deaf.spins"])
def test_an_async_module_that_ignores_its_deadline_is_interrupted(
    any_call: Call, module_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    executor = executor_for(*stubborn_modules(), **IMPATIENT)
    with pytest.raises(ModuleTimeoutError):
        any_call(executor, module_id)
    [record] = [each for each in caplog.records if each.levelname == "ERROR"]
    assert f"Module {module_id} ignored its deadline (executor.default_timeout = 150 ms)" in record.getMessage()
    assert not executor.registry.get_definition(module_id).activity


def test_an_interrupted_coroutine_leaves_the_others_of_its_loop_alone() -> None:
    executor = executor_for(*stubborn_modules(), **IMPATIENT)
    ticks = 0

    async def run() -> None:
        nonlocal ticks
        calls = asyncio.gather(
            *(executor.call_async(f"deaf.{name}") for name in ("swallows", "spins", "tidies")), return_exceptions=True
        )
        while not calls.done():
            await asyncio.sleep(0)
            ticks += 1
        assert [type(each) for each in calls.result()] == [ModuleTimeoutError] * 3
        current = asyncio.current_task()
        assert current is not None
        assert not current.cancelling()
        await asyncio.sleep(0)  # nothing is left on its way to this task

    asyncio.run(run())
    assert ticks


def test_when_an_async_module_waits_for_one_that_is_deaf_both_end_with_their_middleware() -> None:
    told: list[tuple[str, str]] = []

    class Listens:
        async def on_error(self, module_id: str, inputs: dict[str, Any], error: Any, context: Context) -> None:
            await asyncio.sleep(0)
            told.append((module_id, error.code))

    @module(id="outer.persistent")
    async def persistent(context: Context) -> dict[str, Any]:
        """Try for ever"""
        while True:
            with contextlib.suppress(ModuleTimeoutError, asyncio.CancelledError):
                await context.executor.call_async("deaf.swallows", {}, context)

    executor = executor_for(persistent, *stubborn_modules(), **IMPATIENT)
    executor.use(Listens())
    with pytest.raises(ModuleTimeoutError):
        asyncio.run(executor.call_async("outer.persistent"))
    assert told == [("deaf.swallows", "MODULE_TIMEOUT"), ("outer.persistent", "MODULE_TIMEOUT")]


class DeafStream:
    description = "Gives no chunk, for ever"
    input_schema: dict[str, Any] = {"type": "object"}
    output_schema: dict[str, Any] = {"type": "object"}
    annotations = ModuleAnnotations(streaming=True)

    async def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {}

    async def stream(self, inputs: dict[str, Any], context: Context) -> AsyncIterator[dict[str, Any]]:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(20)
        yield {}


def test_an_async_module_that_does_nothing_but_read_streams_ends_at_its_deadline() -> None:
    told: list[str] = []

    class Listens:
        async def on_error(self, module_id: str, *rest: Any) -> None:
            await asyncio.sleep(0)
            told.append(module_id)

    @module(id="outer.reads")
    async def reads(context: Context) -> dict[str, Any]:
        """Read for ever"""
        while True:
            with contextlib.suppress(ModuleTimeoutError, asyncio.CancelledError):
                async for _ in context.executor.stream("deaf.streams", {}, context):
                    pass

    executor = executor_for(reads, **IMPATIENT)
    executor.registry.register("deaf.streams", DeafStream())
    executor.use(Listens())
    with pytest.raises(ModuleTimeoutError) as caught:
        asyncio.run(executor.call_async("outer.reads"))
    assert caught.value.module_id == "outer.reads"
    assert told == ["deaf.streams", "outer.reads"]
    assert not executor.registry.get_definition("deaf.streams").activity


def test_interrupts_that_race_with_the_end_of_a_coroutine_never_leak() -> None:
    @module(id="race.coroutine")
    async def coroutine(seconds: float) -> dict[str, Any]:
        """End at about the time at which it would be interrupted"""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        return {}

    executor = executor_for(coroutine, default_timeout=5, grace_period=5)

    async def run() -> None:
        for number in range(40):
            with pytest.raises(ModuleTimeoutError):
                await executor.call_async("race.coroutine", {"seconds": 0.009 + number * 0.00005})
            for _ in range(50):
                await asyncio.sleep(0)

    asyncio.run(run())
