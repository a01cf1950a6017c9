from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from apcore.context import CancelToken, Context
from apcore.errors import ExecutionCancelledError, ModuleTimeoutError
from apcore.execution import Executor
from apcore.execution.deadlines import Deadlines
from apcore.modules import module
from apcore.registry import Registry

Call = Callable[..., Any]
LIMITS = {"default_timeout": 60, "grace_period": 40}


def executor_for(function: Any, **limits: int) -> Executor:
    registry = Registry()
    registry.register(function.id, function)
    return Executor(registry, config={**LIMITS, **limits})


@pytest.mark.req("R-12.7.5-03", "R-12.7.5-04", "R-12.7.5-05", "R-9.1.1-11")
def test_a_module_that_ignores_its_deadline_is_interrupted(call: Call, caplog: pytest.LogCaptureFixture) -> None:
    written: list[int] = []

    @module(id="slow.spin")
    def spin() -> dict[str, Any]:
        """Run for ever, and swallow every Exception"""
        while True:
            with contextlib.suppress(Exception):
                written.append(1)

    with pytest.raises(ModuleTimeoutError) as caught:
        call(executor_for(spin), "slow.spin")
    assert caught.value.code == "MODULE_TIMEOUT"
    assert caught.value.http_status == 504
    count = len(written)
    time.sleep(0.05)
    assert len(written) == count, "the module still runs"
    assert any("slow.spin" in record.getMessage() and record.levelno == logging.ERROR for record in caplog.records)


@pytest.mark.req("R-12.7.5-01", "R-12.7.5-02")
def test_a_cooperative_module_cleans_up_within_the_grace_period(call: Call, caplog: pytest.LogCaptureFixture) -> None:
    cleaned: list[str] = []

    @module(id="slow.kind")
    def kind(context: Context) -> dict[str, Any]:
        """Check the token"""
        try:
            while True:
                time.sleep(0.005)
                assert context.cancel_token is not None
                context.cancel_token.check()
        finally:
            cleaned.append("clean")

    with pytest.raises(ModuleTimeoutError):
        call(executor_for(kind, grace_period=5000), "slow.kind")
    assert cleaned == ["clean"]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_result_that_comes_late_is_never_returned(call: Call) -> None:
    @module(id="slow.late")
    def late() -> dict[str, Any]:
        """Block in C past the deadline"""
        time.sleep(0.15)
        return {"late": True}

    with pytest.raises(ModuleTimeoutError):
        call(executor_for(late, grace_period=5000), "slow.late")


@pytest.mark.req("R-11.8.4-02")
def test_an_async_module_is_cancelled_at_its_deadline() -> None:
    ended: list[str] = []

    @module(id="slow.coroutine")
    async def slow() -> dict[str, Any]:
        """Sleep for long"""
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("ended")
        return {}

    with pytest.raises(ModuleTimeoutError):
        asyncio.run(executor_for(slow).call_async("slow.coroutine"))
    assert ended == ["ended"]


@pytest.mark.req("R-12.7.5-06")
def test_a_fast_module_leaves_nothing_behind(call: Call) -> None:
    @module(id="fast.one")
    def fast() -> dict[str, Any]:
        """Be quick"""
        return {}

    executor = executor_for(fast)
    call(executor, "fast.one")
    total = 0
    for n in range(100_000):  # an interrupt that was still pending would strike here
        total += n
    assert total


@pytest.mark.req("R-12.7.5-08")
def test_nested_calls_share_the_deadline_of_the_chain(call: Call) -> None:
    registry = Registry()

    @module(id="chain.inner")
    def inner(context: Context) -> dict[str, Any]:
        """Tell the deadline"""
        return {"deadline": context.deadline}

    @module(id="chain.outer")
    def outer(context: Context) -> dict[str, Any]:
        """Call on"""
        inside = context.executor.call("chain.inner", {}, context)
        return {"mine": context.deadline, "inner": inside["deadline"]}

    registry.register("chain.inner", inner)
    registry.register("chain.outer", outer)
    result = call(Executor(registry), "chain.outer")
    assert result["mine"] == result["inner"]


@pytest.mark.req("R-9.1.1-11")
def test_the_whole_chain_has_a_limit_too(call: Call) -> None:
    registry = Registry()

    @module(id="chain.step")
    def step() -> dict[str, Any]:
        """Take a while"""
        time.sleep(0.03)
        return {}

    @module(id="chain.all")
    def all_steps(context: Context) -> dict[str, Any]:
        """Take many whiles"""
        for _ in range(20):
            context.executor.call("chain.step", {}, context)
        return {}

    registry.register("chain.step", step)
    registry.register("chain.all", all_steps)
    executor = Executor(registry, config={"default_timeout": 10_000, "global_timeout": 100, "grace_period": 20})
    started = time.monotonic()
    with pytest.raises(ModuleTimeoutError):
        call(executor, "chain.all")
    assert time.monotonic() - started < 0.55


@pytest.mark.req("R-9.1.1-12")
def test_zero_switches_the_limit_off_and_warns(call: Call, caplog: pytest.LogCaptureFixture) -> None:
    @module(id="slow.free")
    def free(context: Context) -> dict[str, Any]:
        """Tell the deadline"""
        return {"deadline": context.deadline}

    executor = executor_for(free, default_timeout=0, global_timeout=0)
    assert "default_timeout" in caplog.text
    assert call(executor, "slow.free") == {"deadline": None}


@pytest.mark.req("R-12.7.5-09")
def test_a_caller_can_cancel(call: Call) -> None:
    token = CancelToken()

    @module(id="slow.stop")
    def stop(context: Context) -> dict[str, Any]:
        """Be cancelled while running"""
        token.cancel("the user left")
        assert context.cancel_token is not None
        context.cancel_token.check()
        return {}

    with pytest.raises(ExecutionCancelledError, match="the user left"):
        call(executor_for(stop), "slow.stop", {}, Context.create(cancel_token=token))


def test_a_call_that_was_cancelled_before_runs_nothing_and_neither_does_a_loop_over_calls(call: Call) -> None:
    token = CancelToken()
    served: list[int] = []

    @module(id="slow.served")
    def serve() -> dict[str, Any]:
        """Count the calls"""
        served.append(1)
        return {}

    @module(id="slow.loop")
    def loop(context: Context) -> dict[str, Any]:
        """Call another one again and again, and look at no token"""
        for number in range(10):
            if number == 3:
                token.cancel("the user left")
            context.executor.call("slow.served", {}, context)
        return {}

    executor = executor_for(loop)
    executor.registry.register(serve.id, serve)
    with pytest.raises(ExecutionCancelledError, match="the user left"):
        call(executor, "slow.loop", {}, Context.create(cancel_token=token))
    assert len(served) == 3
    with pytest.raises(ExecutionCancelledError, match="the user left"):
        call(executor, "slow.served", {}, Context.create(cancel_token=token))
    assert len(served) == 3


def test_many_deadlines_at_once_hit_only_their_own_threads() -> None:
    deadlines = Deadlines(grace=0.0)
    outcomes: dict[int, str] = {}

    def spin(seconds: float) -> str:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            sum(range(50))
        return "done"

    def work(n: int) -> None:
        slow = n % 2 == 1
        context = Context.create().enter("spin.it")
        try:
            outcomes[n] = deadlines.run(time.monotonic() + (0.1 if slow else 30), context, spin, (5 if slow else 0.1,))
        except ModuleTimeoutError:
            outcomes[n] = "timeout"

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {n: "timeout" if n % 2 else "done" for n in range(6)}


def test_the_watcher_ends_with_its_owner() -> None:
    deadlines = Deadlines(grace=1.0)
    deadlines.start()
    deadlines.run(time.monotonic() + 5, Context.create(), int)
    watchers = [thread for thread in threading.enumerate() if thread.name == "apcore-deadlines"]
    del deadlines
    gc.collect()
    deadline = time.monotonic() + 5
    while all(thread.is_alive() for thread in watchers) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not all(thread.is_alive() for thread in watchers)


def test_interrupts_that_race_with_the_end_of_a_call_never_leak() -> None:
    """Calls that end at about their deadline, many times: each is done or timed out, and nothing strikes later."""
    deadlines = Deadlines(grace=0.0)
    context = Context.create().enter("race.it")
    for n in range(150):
        limit = 0.002
        pause = limit * (0.5 + n / 150)
        with contextlib.suppress(ModuleTimeoutError):
            deadlines.run(time.monotonic() + limit, context, time.sleep, (pause,))
        sum(range(200))


def test_an_interrupt_for_the_outer_call_is_not_spent_on_an_inner_one(call: Call) -> None:
    went_on: list[str] = []

    @module(id="chain.patient", timeout_ms=20_000)
    def patient() -> dict[str, Any]:
        """Have much more time than the caller"""
        end = time.monotonic() + 5
        while time.monotonic() < end:
            sum(range(50))
        return {}

    @module(id="chain.hasty", timeout_ms=60)
    def hasty(context: Context) -> dict[str, Any]:
        """Survive the failure of an inner call"""
        with contextlib.suppress(ModuleTimeoutError):
            context.executor.call("chain.patient", {}, context)
        went_on.append("after its deadline")
        return {}

    registry = Registry()
    registry.register("chain.patient", patient)
    registry.register("chain.hasty", hasty)
    started = time.monotonic()
    with pytest.raises(ModuleTimeoutError) as caught:
        call(Executor(registry, config=LIMITS), "chain.hasty")
    assert caught.value.module_id == "chain.hasty"
    assert went_on == []
    assert time.monotonic() - started < 4


def test_when_inner_and_outer_calls_are_late_both_are_interrupted() -> None:
    deadlines = Deadlines(grace=0.0)
    context = Context.create().enter("late.both")
    went_on: list[str] = []

    def spin() -> None:
        end = time.monotonic() + 5
        while time.monotonic() < end:
            sum(range(50))

    def outer() -> None:
        with contextlib.suppress(ModuleTimeoutError):
            deadlines.run(deadline, context, spin)
        went_on.append("outer")
        spin()

    started = time.monotonic()
    deadline = started + 0.05
    with pytest.raises(ModuleTimeoutError):
        deadlines.run(deadline, context, outer)
    assert time.monotonic() - started < 4
    assert went_on == []
    sum(range(200_000))  # an interrupt that was still pending would strike here


def test_a_coroutine_that_comes_too_late_neither_begins_nor_complains_that_nobody_awaits_it() -> None:
    deadlines, context, begun = Deadlines(grace=60.0), Context.create(), list[int]()

    async def work() -> None:
        begun.append(1)

    def late() -> Any:
        time.sleep(0.05)
        return work()

    with pytest.raises(ModuleTimeoutError):
        deadlines.run(time.monotonic() + 0.02, context, late)
    with pytest.raises(ModuleTimeoutError):
        asyncio.run(deadlines.wait(time.monotonic() - 1, context, work, work()))
    gc.collect()
    assert begun == []


def test_a_description_that_fails_does_not_end_the_watch(caplog: pytest.LogCaptureFixture) -> None:
    def describe(*_: Any) -> str:
        raise LookupError

    deadlines, context = Deadlines(grace=0.0, describe=describe), Context.create().enter("slow.odd")
    for _ in range(2):
        with pytest.raises(ModuleTimeoutError):
            deadlines.run(time.monotonic() + 0.02, context, lambda: [sum(range(50)) for _ in range(10**7)])
    texts = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert [text.partition(" and is ")[0] for text in texts] == ["Module slow.odd ignored its deadline"] * 2


def in_a_fork(function: Callable[[], None]) -> int:
    """The exit status of a forked child that runs ``function``; SIGALRM (14) ends one that hangs."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(10)
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_another_thread_holds_the_lock_harms_no_call() -> None:
    deadlines = Deadlines(grace=0.01)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with deadlines._lock:
            held.set()
            release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)

    def in_the_child() -> None:
        deadlines.run(time.monotonic() + 30, Context.create(), int)
        with pytest.raises(ModuleTimeoutError):
            deadlines.run(time.monotonic() + 0.02, Context.create(), lambda: [sum(range(50)) for _ in range(10**7)])

    status = in_a_fork(in_the_child)
    release.set()
    thread.join()
    assert status == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_calls_of_threads_that_a_fork_left_behind_are_forgotten() -> None:
    """Their thread IDs are given to new threads of the child, which have done nothing wrong."""
    deadlines = Deadlines(grace=0.0)
    context = Context.create().enter("fork.parent")
    running = threading.Event()

    def work() -> None:
        running.set()
        time.sleep(0.5)

    def late() -> None:
        with contextlib.suppress(ModuleTimeoutError):
            deadlines.run(time.monotonic() + 0.1, context, work)

    def fork() -> None:
        statuses.append(in_a_fork(lambda: check(deadlines)))

    def check(deadlines: Deadlines) -> None:
        assert [entry.thread_id for entry in deadlines._active] == [threading.get_ident()]

    statuses: list[int] = []
    thread = threading.Thread(target=late)
    thread.start()
    running.wait(10)
    deadlines.run(time.monotonic() + 30, context, fork)
    thread.join()
    assert statuses == [0]
