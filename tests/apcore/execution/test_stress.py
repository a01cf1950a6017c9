"""Many callers at once, in every way that a module can be called: nothing lost, nothing twice, nothing left.

`APCORE_STRESS=20` makes the run twenty times as long; by default it takes some seconds.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import random
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import pytest

from apcore.context import CancelToken, Context, Identity
from apcore.errors import ExecutionCancelledError, ModuleError, ModuleTimeoutError
from apcore.execution import Executor
from apcore.registry import Registry

THREADS = 64
TASKS = 1_000
CALLS_PER_THREAD = 8
LENGTH = int(os.environ.get("APCORE_STRESS", "1"))

OBJECT = {"type": "object"}
who: contextvars.ContextVar[int] = contextvars.ContextVar("who", default=-1)


@dataclass
class Ledger:
    """How often each number ran, how each ended, and what was seen that belongs to another call."""

    runs: Counter[int] = field(default_factory=Counter)
    ends: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ran(self, number: int) -> None:
        with self.lock:
            self.runs[number] += 1

    def ended(self, number: int, kind: str) -> None:
        with self.lock:
            self.ends[number] += 1
            self.kinds[kind] += 1

    def expect(self, seen: object, expected: object, what: str) -> None:
        if seen != expected:
            self.leaks.append(f"{what}: {seen!r} instead of {expected!r}")


class Stressed:
    """Base of the modules: each looks whether everything around it belongs to its own call."""

    description = "Works under stress"
    input_schema = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
    output_schema = {"type": "object", "required": ["number"]}
    annotations = {"streaming": True}

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def enter(self, inputs: dict[str, Any], context: Context) -> int:
        number = int(inputs["number"])
        expect = self.ledger.expect
        expect(context.identity.id if context.identity else None, str(number), "identity")
        expect(context.data.setdefault("number", number), number, "data")
        expect(context.call_chain[-1].startswith("stress."), True, "call chain")
        expect(who.get() in (-1, number), True, "context variable")
        if len(context.call_chain) == 1:
            self.ledger.ran(number)
        return number

    @staticmethod
    def check(context: Context) -> None:
        assert context.cancel_token is not None
        context.cancel_token.check()


class Sync(Stressed):
    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        number = self.enter(inputs, context)
        token = who.set(number)
        time.sleep(0.001 * (number % 3))
        self.check(context)
        who.reset(token)
        return {"number": number}

    def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
        number = self.enter(inputs, context)
        for part in range(4):
            self.check(context)
            yield {"parts": {str(part): number}}
        yield {"number": number}


class Async(Stressed):
    async def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        number = self.enter(inputs, context)
        token = who.set(number)
        await asyncio.sleep(0.001 * (number % 3))
        self.check(context)
        who.reset(token)
        return {"number": number}

    async def stream(self, inputs: dict[str, Any], context: Context) -> AsyncIterator[dict[str, Any]]:
        number = self.enter(inputs, context)
        for part in range(4):
            await asyncio.sleep(0)
            self.check(context)
            yield {"parts": {str(part): number}}
        yield {"number": number}


class NestedSync(Stressed):
    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        number = self.enter(inputs, context)
        inner = context.executor.call("stress.sync", inputs, context)
        merged = list(context.executor.stream_sync("stress.sync", inputs, context))[-1]
        self.ledger.expect((inner["number"], merged["number"]), (number, number), "nested")
        return {"number": number}


class NestedAsync(Stressed):
    async def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        number = self.enter(inputs, context)
        names = ("stress.async", "stress.sync")
        inner = await asyncio.gather(*(context.executor.call_async(name, inputs, context) for name in names))
        self.ledger.expect([each["number"] for each in inner], [number, number], "nested")
        return {"number": number}


class LateSync(Stressed):
    timeout_ms = 20

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        number = self.enter(inputs, context)
        time.sleep(0.03)
        return {"number": number}


class LateAsync(Stressed):
    timeout_ms = 20

    async def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        self.enter(inputs, context)
        await asyncio.sleep(60)
        return {"number": -1}


MODULES = {
    "stress.sync": Sync,
    "stress.async": Async,
    "stress.nested_sync": NestedSync,
    "stress.nested_async": NestedAsync,
    "stress.late_sync": LateSync,
    "stress.late_async": LateAsync,
}


class Run:
    """One stress run: callers in threads and as tasks, and the ledger of all calls."""

    def __init__(self, seed: int) -> None:
        self.ledger, self.seed = Ledger(), seed
        registry = Registry()
        for module_id, kind in MODULES.items():
            registry.register(module_id, kind(self.ledger))
        self.executor = Executor(registry, config={"grace_period": 200})

    def call(self, number: int) -> None:
        """One call from a thread that has no loop: plain, streamed, streamed and left, cancelled, or too late."""
        chance = random.Random(self.seed + number)
        module_id, context = chance.choice(list(MODULES)), self.context(number)
        who.set(number)
        with self.outcome(number, module_id):
            if chance.random() < 0.2 and context.cancel_token is not None:
                context.cancel_token.cancel()
            if chance.random() < 0.4:
                self.take(module_id, number, context, chance.randrange(1, 8))
            else:
                self.ledger.expect(
                    self.executor.call(module_id, {"number": number}, context)["number"], number, "result"
                )
        self.ledger.expect(who.get(), number, "context variable of the caller")
        who.set(-1)

    def take(self, module_id: str, number: int, context: Context, count: int) -> None:
        stream = self.executor.stream_sync(module_id, {"number": number}, context)
        for position, chunk in enumerate(stream, 1):
            self.look_at(chunk, number)
            if position == count:
                stream.close()

    async def call_async(self, number: int) -> None:
        """One call from a task, which may be cancelled at any moment."""
        chance = random.Random(self.seed + number)
        asynchronous = [name for name in MODULES if name != "stress.late_sync"]  # would hold up the one thread of all
        module_id, context = chance.choice(asynchronous), self.context(number)
        call = asyncio.ensure_future(self.one_of_two(chance, module_id, number, context))
        if chance.random() < 0.2:
            asyncio.get_running_loop().call_later(chance.random() * 0.05, call.cancel)
        with self.outcome(number, module_id):
            await call

    async def one_of_two(self, chance: random.Random, module_id: str, number: int, context: Context) -> None:
        if chance.random() < 0.6:
            output = await self.executor.call_async(module_id, {"number": number}, context)
            self.ledger.expect(output["number"], number, "result")
            return
        count, position = chance.randrange(1, 8), 0
        async with aclosing(self.executor.stream(module_id, {"number": number}, context)) as stream:
            async for chunk in stream:
                self.look_at(chunk, number)
                position += 1
                if position == count:
                    return

    def look_at(self, chunk: dict[str, Any], number: int) -> None:
        values = {chunk["number"]} if "number" in chunk else set(chunk["parts"].values())
        self.ledger.expect(values, {number}, "chunk")

    def context(self, number: int) -> Context:
        return Context.create(identity=Identity(str(number)), cancel_token=CancelToken())

    def outcome(self, number: int, module_id: str) -> Outcome:
        return Outcome(self.ledger, number, module_id)


class Outcome:
    """Every call ends once, and in a way that it may end."""

    def __init__(self, ledger: Ledger, number: int, module_id: str) -> None:
        self.ledger, self.number, self.is_late = ledger, number, "late" in module_id

    def __enter__(self) -> None:
        """The call begins."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if error is None:
            self.ledger.expect(self.is_late, False, "a call that is too late")
            self.ledger.ended(self.number, "done")
            return True
        expected = (ModuleTimeoutError, ExecutionCancelledError, asyncio.CancelledError)
        if not isinstance(error, expected):
            self.ledger.leaks.append(f"{self.number}: {error!r} {getattr(error, 'cause', None)!r}")
        self.ledger.ended(self.number, error.code if isinstance(error, ModuleError) else "cancelled from outside")
        return True


async def tasks_of(run: Run, numbers: range) -> int:
    """All calls as tasks of one loop; how many tasks were left when they were over."""
    tasks = [asyncio.create_task(run.call_async(number)) for number in numbers]
    await asyncio.gather(*tasks)
    await asyncio.sleep(0)
    return len(asyncio.all_tasks()) - 1


@pytest.mark.req("R-12.7.1-03", "R-12.7.2-05", "R-12.7.6-01", "R-12.7.8-01")
@pytest.mark.parametrize("seed", range(LENGTH))
def test_sixty_four_threads_and_a_thousand_tasks(seed: int) -> None:
    run, threads_before = Run(seed), {thread.ident for thread in threading.enumerate()}
    from_threads, from_tasks = range(THREADS * CALLS_PER_THREAD), range(1_000_000, 1_000_000 + TASKS)

    with ThreadPoolExecutor(THREADS, thread_name_prefix="stress") as pool:
        calls = [pool.submit(run.call, number) for number in from_threads]
        left = asyncio.run(tasks_of(run, from_tasks))
        for call in calls:
            call.result(timeout=120)

    ledger = run.ledger
    assert ledger.leaks == []
    assert set(ledger.ends) == {*from_threads, *from_tasks}  # no result is lost
    assert set(ledger.ends.values()) == {1}
    assert max(ledger.runs.values()) == 1  # and none is made twice
    assert {"done", "MODULE_TIMEOUT", "EXECUTION_CANCELLED", "cancelled from outside"} == set(ledger.kinds)
    assert left == 0
    assert [run.executor.registry.get_definition(name).activity for name in MODULES] == [{}] * len(MODULES)
    gc.collect()  # asgiref's pool of a call that failed is in a cycle with the failure, and its thread ends with it
    assert "apcore-stream" not in new_threads(threads_before)
    assert settles(lambda: {name: count for name, count in new_threads(threads_before).items() if count > 1} == {})


def new_threads(before: set[int | None]) -> Counter[str]:
    """How many threads of each kind are new. One may stay of each: the watcher, and asgiref's for all sync code."""
    new = [thread.name for thread in threading.enumerate() if thread.ident not in before]
    return Counter(name.rpartition("-")[0] if name.startswith("ThreadPool") else name for name in new)


def settles(condition: Any, seconds: float = 10) -> bool:
    """Whether it holds in the end."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(condition())


def test_the_ledger_would_notice() -> None:
    """The run above shows something only if a leak, a loss and a double would be seen."""
    ledger = Ledger()
    ledger.expect(1, 2, "x")
    with Outcome(ledger, 1, "stress.sync"):
        raise ValueError
    with Outcome(ledger, 1, "stress.late_sync"):
        pass
    assert len(ledger.leaks) == 3
    assert ledger.ends == {1: 2}
