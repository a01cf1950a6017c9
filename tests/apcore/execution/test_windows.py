"""Interrupts strike only inside of the call that is late, whatever the thread does before, after and in between."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from apcore.context import Context
from apcore.errors import ModuleTimeoutError
from apcore.execution import AsyncRunner, Executor, SyncRunner
from apcore.execution.deadlines import Deadlines
from apcore.execution.streaming import CONSUMER_LEFT, ConsumerLeft, awaited_chunks, hand_out
from apcore.execution.windows import HERE, DeadlineInterrupt, Shielded, Window, shielded
from apcore.modules import module
from apcore.pipeline import Body, Invocation
from apcore.registry import Registry
from tests.apcore.execution.racing import Watched, spin

CALLS = 200
THREADS = 4
ANY_INPUT: dict[str, Any] = {"type": "object"}


class Bracket:
    """Code that must not be interrupted, as a transaction around a module; it takes its time at both ends."""

    def __init__(self) -> None:
        self.began = self.ended = 0
        self.struck: list[str] = []

    def __enter__(self) -> None:
        self.began += 1
        self.take_time("begin")

    def __exit__(self, *error: object) -> None:
        self.take_time("end")
        self.ended += 1

    def take_time(self, where: str) -> None:
        try:
            spin(0.0005)
        except DeadlineInterrupt:
            self.struck.append(where)
            raise


class BracketedRunner(SyncRunner):
    """The sync runner of something that has transactions."""

    def __init__(self, deadlines: Deadlines, bracket: Bracket) -> None:
        super().__init__(deadlines)
        self.bracket = bracket

    async def execute(self, invocation: Invocation, body: Body) -> None:
        with self.bracket:
            await super().execute(invocation, body)


def executor_of(*modules: Any, bracket: Bracket | None = None, **limits: int) -> Executor:
    registry = Registry()
    for each in modules:
        registry.register(each.id, each)
    used = bracket or Bracket()
    runners = (lambda deadlines: BracketedRunner(deadlines, used), AsyncRunner)
    return Executor(registry, config={"default_timeout": 5_000, "grace_period": 0, **limits}, runners=runners)


def calls_that_end_at_their_deadline(deadlines: Deadlines) -> Counter[str]:
    """One thread's calls; an interrupt that leaves its call ends this function, and the test."""
    context, outcomes = Context.create().enter("race.it"), Counter[str]()

    def work(seconds: float) -> None:
        try:
            spin(seconds)
        except DeadlineInterrupt:
            outcomes["struck"] += 1
            raise

    for number in range(CALLS):
        limit = 0.0008
        try:
            deadlines.run(time.monotonic() + limit, context, work, (limit * (0.8 + 0.4 * number / CALLS),))
            outcomes["done"] += 1
        except ModuleTimeoutError:
            outcomes["late"] += 1
        assert HERE.seat.window is None
        sum(range(200))
    return outcomes


@pytest.mark.req("R-12.7.5-05", "R-12.7.5-06")
@pytest.mark.usefixtures("eager_threads")
def test_calls_that_end_at_about_their_deadline_are_done_or_late_and_nothing_strikes_later() -> None:
    with Watched(Deadlines(grace=0.0)) as deadlines, ThreadPoolExecutor(THREADS) as pool:
        others = [pool.submit(calls_that_end_at_their_deadline, deadlines) for _ in range(THREADS)]
        outcomes = calls_that_end_at_their_deadline(deadlines)  # the main thread
        for each in others:
            outcomes += each.result()
    assert outcomes["done"] + outcomes["late"] == (THREADS + 1) * CALLS
    assert outcomes["struck"] > 0, "nothing was raced for"
    assert not deadlines._active


@pytest.mark.usefixtures("eager_threads")
def test_calls_inside_of_calls_unwind_one_after_the_other() -> None:
    context, went_on = Context.create().enter("race.nested"), Counter[str]()

    def outer(deadlines: Deadlines, deadline: float) -> None:
        try:
            with contextlib.suppress(ModuleTimeoutError):
                deadlines.run(deadline, context, spin, (0.0008,))
            went_on["after the inner call"] += 1
            spin(20)
            went_on["to its end"] += 1
        except DeadlineInterrupt:
            went_on["struck"] += 1
            raise

    with Watched(Deadlines(grace=0.0)) as deadlines:
        for _ in range(CALLS):
            with pytest.raises(ModuleTimeoutError):
                deadlines.run(deadline := time.monotonic() + 0.0008, context, outer, (deadlines, deadline))
            assert HERE.seat.window is None
    assert went_on["to its end"] == 0
    assert went_on["struck"] > 0


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("way", ["call", "stream", "validate"])
def test_what_is_between_two_modules_is_never_interrupted(way: str) -> None:
    bracket = Bracket()

    class Inner:
        id = "race.inner"
        description = "Be quick"
        input_schema = output_schema = ANY_INPUT
        annotations = {"streaming": True}

        def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            return {}

        def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
            yield from ({"part": str(part)} for part in range(3))

    class Outer:
        id = "race.outer"
        description = "Call the other until time is over"
        input_schema = output_schema = ANY_INPUT
        timeout_ms = 5

        def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            while True:
                with contextlib.suppress(ModuleTimeoutError):
                    self.once(context)

        def once(self, context: Context) -> None:
            if way == "call":
                context.executor.call("race.inner", {}, context)
            elif way == "validate":
                context.executor.validate("race.inner", {}, context)
            else:
                assert list(context.executor.stream_sync("race.inner", {}, context))

    executor = executor_of(Inner(), Outer(), bracket=bracket)
    for _ in range(40):
        with pytest.raises(ModuleTimeoutError) as caught:
            executor.call("race.outer", {})
        assert caught.value.module_id == "race.outer"
    assert bracket.struck == []
    assert bracket.began == bracket.ended > 0
    gc.collect()  # a coroutine that nobody awaited, or a stream that nobody closed, would complain here


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("inside_a_loop", [False, True])
def test_an_async_module_of_the_sync_driver_is_cancelled_and_never_interrupted(inside_a_loop: bool) -> None:
    @module(id="race.coroutine", timeout_ms=2)
    async def work(seconds: float) -> dict[str, Any]:
        """Sleep for a while"""
        await asyncio.sleep(seconds)
        return {}

    @module(id="race.caller")
    def caller(seconds: float, context: Context) -> dict[str, Any]:
        """Call the one above"""
        return dict(context.executor.call("race.coroutine", {"seconds": seconds}, context))

    bracket, outcomes = Bracket(), Counter[str]()
    executor = executor_of(work, caller, bracket=bracket, grace_period=5_000)

    def run() -> None:
        for number in range(40):
            try:
                executor.call(("race.coroutine", "race.caller")[number % 2], {"seconds": 0.004 * number / 40})
                outcomes["done"] += 1
            except ModuleTimeoutError:
                outcomes["late"] += 1

    async def run_in_a_loop() -> None:
        run()

    if inside_a_loop:
        asyncio.run(run_in_a_loop())
    else:
        run()
    assert outcomes["done"] + outcomes["late"] == 40
    assert outcomes["late"] > 0
    assert bracket.struck == []
    gc.collect()


def test_a_consumer_between_two_chunks_is_not_in_the_call() -> None:
    class Counting:
        id = "race.stream"
        description = "Count"
        input_schema = output_schema = ANY_INPUT
        annotations = {"streaming": True}
        timeout_ms = 20

        def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            return {}

        def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
            yield {"a": 1}
            spin(5)

    stream = executor_of(Counting()).stream_sync("race.stream", {})
    assert next(stream) == {"a": 1}
    spin(0.1)  # past the deadline, and ours
    with pytest.raises(ModuleTimeoutError):
        next(stream)
    spin(0.05)


def test_a_module_that_lost_its_interrupt_gets_another() -> None:
    """What is raised inside of a finalizer, for one, is printed and forgotten."""
    swallowed: list[BaseException] = []

    def stubborn() -> None:
        with contextlib.suppress(DeadlineInterrupt):
            try:
                spin(20)
            except DeadlineInterrupt as error:
                swallowed.append(error)
                raise
        spin(20)

    deadlines, started = Deadlines(grace=0.0), time.monotonic()
    with pytest.raises(ModuleTimeoutError):
        deadlines.run(time.monotonic() + 0.02, Context.create(), stubborn)
    assert len(swallowed) == 1
    assert time.monotonic() - started < 10


def test_the_time_of_a_call_holds_for_those_of_another_executor_inside_of_it() -> None:
    mine, other = Deadlines(grace=0.0), Deadlines(grace=60.0)
    context, started = Context.create().enter("race.outer"), time.monotonic()

    def outer() -> None:
        other.run(time.monotonic() + 60, context, spin, (20,))

    with pytest.raises(ModuleTimeoutError):
        mine.run(time.monotonic() + 0.05, context, outer)
    assert time.monotonic() - started < 10


def interrupt(entry: Window) -> None:
    with entry.lock:
        entry.interrupt()


@pytest.mark.parametrize("error", [None, ValueError()])
def test_an_interrupt_that_is_decided_on_when_the_function_has_just_ended_strikes_nothing(
    error: Exception | None,
) -> None:
    deadlines, windows = Deadlines(grace=0.0), []

    def end() -> None:
        windows.append(HERE.seat.window)
        if error is not None:
            raise error

    with contextlib.suppress(ValueError):
        deadlines.run(time.monotonic() + 60, Context.create(), end)
    interrupt(windows[0])
    sum(range(200))
    assert deadlines.run(time.monotonic() + 60, Context.create(), sum, ([1, 2],)) == 3


def test_an_interrupt_that_comes_before_the_function_begins_lets_it_not_begin() -> None:
    class Hasty(Deadlines):
        def _wake_watcher(self) -> None:
            for entry in self._active:
                interrupt(entry)

    begun: list[int] = []
    with pytest.raises(ModuleTimeoutError):
        Hasty(grace=0.0).run(time.monotonic() + 60, Context.create(), begun.append, (1,))
    assert begun == []
    sum(range(200))


class OwnWindow:
    """A window of this thread that is innermost and open, and an interrupt for it on demand."""

    def __init__(self) -> None:
        self.window = Window(threading.RLock())

    def __enter__(self) -> Callable[[], None]:
        HERE.seat.window = self.window
        self.window.reopen()
        return self.interrupt

    def interrupt(self) -> None:
        with self.window.lock:
            self.window.interrupt()

    def __exit__(self, *error: object) -> None:
        self.window.close()
        HERE.seat.window = None


def test_an_open_window_lets_an_interrupt_in_at_once() -> None:
    went_on = False
    with OwnWindow() as interrupt, contextlib.suppress(DeadlineInterrupt):
        interrupt()
        went_on = True
    assert not went_on


def test_a_shut_window_keeps_it_until_it_opens_and_gives_it_once() -> None:
    with OwnWindow() as interrupt:
        shielded = Shielded()
        shielded.__enter__()
        with Shielded():  # inside of another it does not open anything
            interrupt()
            sum(range(200))
        sum(range(200))
        with pytest.raises(DeadlineInterrupt):
            shielded.__exit__()
        with Shielded():
            sum(range(200))
        sum(range(200))


def test_shutting_takes_back_what_is_on_its_way() -> None:
    """Another thread interrupts, again and again, while this one goes in and out of its window."""
    own, ended, struck = OwnWindow(), threading.Event(), Counter[str]()

    def interrupt_often() -> None:
        while not ended.is_set():
            own.interrupt()
            time.sleep(0)

    def once() -> None:
        try:
            with Shielded():
                try:
                    sum(range(500))
                except DeadlineInterrupt:
                    struck["inside"] += 1
        except DeadlineInterrupt:
            struck["outside"] += 1

    thread = threading.Thread(target=interrupt_often)
    own.window.is_open = False
    HERE.seat.window = own.window
    thread.start()
    try:
        with contextlib.suppress(DeadlineInterrupt):
            for _ in range(2_000):
                own.window.is_open = True
                once()
                with contextlib.suppress(DeadlineInterrupt):
                    own.window.close()
                own.window.close()
    finally:
        HERE.seat.window = None
        ended.set()
        thread.join()
        own.window.close()
    assert struck["inside"] == 0
    assert struck["outside"] > 0


def test_an_interrupt_that_came_during_a_call_strikes_where_the_coroutine_goes_on() -> None:
    reached: list[str] = []

    async def called() -> None:
        interrupt()
        await asyncio.sleep(0)
        reached.append("the end of the call")

    async def run() -> None:
        with pytest.raises(DeadlineInterrupt):
            await shielded(called())

    with OwnWindow() as interrupt:
        asyncio.run(run())
    assert reached == ["the end of the call"]


def test_an_interrupt_that_came_during_a_chunk_strikes_before_it_is_read_and_ends_the_stream() -> None:
    happened: list[str] = []

    async def called() -> None:
        interrupt()
        try:
            await hand_out({})
        except ConsumerLeft:
            happened.append("ended")
            raise

    async def read() -> None:
        async for _ in awaited_chunks(called(), happened.append, happened.append):
            happened.append("read")

    async def run() -> None:
        with pytest.raises(DeadlineInterrupt):
            await read()

    with OwnWindow() as interrupt:
        asyncio.run(run())
    assert happened == [CONSUMER_LEFT, "ended"]
