"""Hooks and the module between them have windows of their own: what is between two of them is never interrupted."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from apcore.context import Context
from apcore.errors import ModuleError, ModuleTimeoutError
from apcore.execution import AsyncRunner, Executor, SyncRunner
from apcore.execution.deadlines import Deadlines
from apcore.execution.windows import HERE, DeadlineInterrupt
from apcore.middleware import Middleware, Retry
from apcore.pipeline import Body, Invocation, PipelineState, Step
from apcore.registry import Registry
from tests.apcore.execution.racing import Watched, spin

THREADS = 3
CALLS = 25
LIMIT_MS = 10


pytestmark = pytest.mark.usefixtures("eager_threads")


class Pipeline:
    """What surrounds foreign code in a call: it takes its time, and notes when it is interrupted."""

    def __init__(self) -> None:
        self.struck: list[str] = []
        self.transactions = Counter[str]()

    def take_time(self, where: str) -> None:
        try:
            spin(0.0003)
        except DeadlineInterrupt:
            self.struck.append(where)
            raise

    def step(self, state: PipelineState) -> None:
        self.take_time("a step")

    async def execute(self, body: Callable[[], Any]) -> None:
        self.transactions["began"] += 1
        self.take_time("the transaction begins")
        try:
            await body()
            self.take_time("the transaction commits")
            self.transactions["committed"] += 1
        finally:
            self.take_time("the transaction ends")
            self.transactions["ended"] += 1


class Hooks(Middleware):
    """Each of its hooks, like the module, is in time or not; a late one catches what it can and spins on."""

    can_retry = True

    def __init__(self, work: Callable[[str, Context], None], log: Counter[str], retries: bool) -> None:
        self.work, self.log, self.retries = work, log, retries

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:
        self.work("before", context)

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> None:
        self.work("after", context)

    def on_error(self, module_id: str, inputs: dict[str, Any], error: ModuleError, context: Context) -> Retry | None:
        if not self.retries or context.attempt > 1:
            return None
        self.log["retries"] += 1
        return Retry(0.0)


class AsyncHooks(Hooks):
    async def before(self, *arguments: Any) -> None:  # type: ignore[override]  # it may be async
        await asyncio.sleep(0)
        Hooks.before(self, *arguments)

    async def after(self, *arguments: Any) -> None:  # type: ignore[override]  # it may be async
        Hooks.after(self, *arguments)
        await asyncio.sleep(0)


class Inner:
    description = "Be quick"
    input_schema = output_schema = {"type": "object"}

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {}


class Works(Inner):
    description = "Work for about as long as there is time"

    def __init__(self, work: Callable[[str, Context], None]) -> None:
        self.work = work

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        self.work("execute", context)
        return {"at": time.monotonic(), "until": context.deadline}


class Race:
    """Calls whose hooks and module take turns in being about as long as the time they have."""

    def __init__(self, *, hooks: type[Hooks] = Hooks, nested: bool = False, retries: bool = False) -> None:
        self.pipeline, self.log, self.outcomes = Pipeline(), Counter[str](), Counter[str]()
        self.nested, self.retries = nested, retries
        registry = Registry()
        registry.register("race.inner", Inner())
        registry.register("race.works", Works(self.work))
        self.deadlines: list[Deadlines] = []
        self.executor = Executor(
            registry,
            middlewares=[hooks(self.work, self.log, retries), Hooks(self.work, self.log, retries=False)],
            config={"global_timeout": 60_000, "default_timeout": 60_000, "grace_period": 0},
            runners=(self.sync_runner, self.async_runner),
        )
        for name in ("input_validation", "output_validation"):
            self.executor.insert_step(Step(f"slow_{name}", self.pipeline.step, native=True), before=name)

    def sync_runner(self, deadlines: Deadlines) -> SyncRunner:
        self.deadlines.append(deadlines)
        pipeline = self.pipeline

        class Runner(SyncRunner):
            async def execute(self, invocation: Invocation, body: Body) -> None:
                await pipeline.execute(lambda: body(self))

        return Runner(deadlines)

    def async_runner(self, deadlines: Deadlines) -> AsyncRunner:
        pipeline = self.pipeline

        class Runner(AsyncRunner):
            async def execute(self, invocation: Invocation, body: Body) -> None:
                await pipeline.execute(lambda: body(self))

        return Runner(deadlines)

    def work(self, where: str, context: Context) -> None:
        """A part of the call that ends at about its deadline, at one of three places."""
        assert HERE.seat.window is not None
        if context.call_chain[-1] != "race.works":
            return
        if self.retries and context.attempt == 1 and where == "execute":
            raise ModuleError("Try again")
        turn = int(context.trace_id[:6], 16)
        try:
            if where == ("before", "execute", "after")[turn % 3]:
                self.spend(LIMIT_MS / 1000 * (0.8 + 0.4 * (turn // 3 % 50) / 50), context)
        except DeadlineInterrupt:
            self.log[f"{where} struck"] += 1
            raise

    def spend(self, seconds: float, context: Context) -> None:
        if not self.nested:
            spin(seconds)
            return
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(ModuleTimeoutError):
                context.executor.call("race.inner", {}, context)

    def context(self) -> Context:
        context = Context.create(executor=self.executor).child("race.works")
        context.deadline = time.monotonic() + LIMIT_MS / 1000
        return context

    def calls(self) -> None:
        for _ in range(CALLS):
            self.judge(self.context(), self.executor.call)
            assert HERE.seat.window is None
            sum(range(200))  # an interrupt that was still pending would strike here

    def judge(self, context: Context, call: Callable[..., Any]) -> None:
        try:
            call("race.works", {}, context)
            self.outcomes["done"] += 1
        except ModuleError as error:
            self.outcomes["late" if isinstance(error, ModuleTimeoutError) else "failed"] += 1

    async def calls_async(self) -> None:
        for _ in range(CALLS):
            context = self.context()
            try:
                await self.executor.call_async("race.works", {}, context)
                self.outcomes["done"] += 1
            except ModuleTimeoutError:
                self.outcomes["late"] += 1
            current = asyncio.current_task()
            assert current is not None
            assert not current.cancelling()

    def check(self, calls: int) -> None:
        """Each call ended once: done, late, or with the error for which there was no time to try it again."""
        assert self.pipeline.struck == []
        assert self.outcomes.total() == calls
        assert self.outcomes["late"] > 0
        assert sum(count for name, count in self.log.items() if name.endswith("struck")) > 0, "nothing was raced for"
        assert self.pipeline.transactions["began"] == self.pipeline.transactions["ended"]
        assert self.pipeline.transactions["committed"] >= self.outcomes["done"]
        assert (self.log["retries"] > 0) is self.retries
        assert [dict(each._active) for each in self.deadlines] == [{}]
        gc.collect()  # a coroutine that nobody awaited would complain here


@pytest.mark.req("R-12.7.5-05", "R-12.7.5-06", "R-11.8.4-02")
@pytest.mark.parametrize("hooks", [Hooks, AsyncHooks])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("retries", [False, True])
def test_calls_of_many_threads_that_are_late_in_a_hook_or_in_the_module(
    hooks: type[Hooks], nested: bool, retries: bool
) -> None:
    race = Race(hooks=hooks, nested=nested, retries=retries)
    with Watched(race.deadlines[0]), ThreadPoolExecutor(THREADS) as pool:
        for each in [pool.submit(race.calls) for _ in range(THREADS)]:
            each.result()
    race.check(THREADS * CALLS)


@pytest.mark.req("R-12.7.5-05", "R-12.7.5-06")
@pytest.mark.parametrize("hooks", [Hooks, AsyncHooks])
def test_windows_of_one_call_on_different_threads(hooks: type[Hooks]) -> None:
    """Plain hooks and the module run on the thread for such code, coroutines on that of the loop."""
    race = Race(hooks=hooks)
    with Watched(race.deadlines[0]):
        asyncio.run(race.calls_async())
    race.check(CALLS)
