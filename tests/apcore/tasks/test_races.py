"""Many tasks, many threads, cancellations at any moment: nothing lost, nothing twice, no hang."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from apcore.context import Context
from apcore.execution import Executor
from apcore.modules import ModuleAnnotations, module
from apcore.registry import Registry
from apcore.tasks import AsyncTaskManager, MemoryTaskStore, RetryPolicy, Task

PATIENCE = 120
TASKS = 1000


class Ledger:
    """How often each number was worked on, and how often each task was said to have ended."""

    def __init__(self) -> None:
        self.started: Counter[int] = Counter()
        self.ended: Counter[str] = Counter()

    def hear(self, task: Task) -> None:
        self.ended[task.task_id] += 1


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
def executor(ledger: Ledger) -> Executor:
    once = threading.Lock()

    @module(id="race.sync")
    def sync(number: int, context: Context) -> dict[str, Any]:
        """Count"""
        with once:
            ledger.started[number] += 1
        context.report_progress(1, 2)
        context.cancel_token.check()
        return {"number": number}

    @module(id="race.slow")
    async def slow(number: int, context: Context) -> dict[str, Any]:
        """Count, and give way a few times"""
        with once:
            ledger.started[number] += 1
        for _ in range(number % 5):
            await asyncio.sleep(0)
            context.cancel_token.check()
        return {"number": number}

    @module(id="race.shaky", annotations=ModuleAnnotations(idempotent=True))
    async def shaky(number: int) -> dict[str, Any]:
        """Count, and fail the first time"""
        with once:
            ledger.started[number] += 1
        if ledger.started[number] == 1:
            raise ValueError("once")
        return {"number": number}

    registry = Registry()
    for each in (sync, slow, shaky):
        registry.register(each.id, each)
    return Executor(registry)


class CancellingStore(MemoryTaskStore):
    """Lets somebody else act right before the update that it was told about."""

    def __init__(self) -> None:
        super().__init__()
        self.before_update: Callable[[str], None] | None = None

    def update(self, task_id: str, change: Any) -> tuple[Task, Task]:
        act, self.before_update = self.before_update, None
        if act is not None:
            act(task_id)
        return super().update(task_id, change)


@pytest.mark.req("R-5.8-13")
def test_a_cancellation_right_before_the_start_wins_and_the_module_never_runs(executor, ledger):
    store = CancellingStore()
    with AsyncTaskManager(executor, store=store) as manager:
        store.before_update = manager.cancel
        task = manager.wait(manager.submit("race.sync", {"number": 1}, on_error=ledger.hear), PATIENCE)

    assert (task.status, task.attempts) == ("cancelled", 0)
    assert ledger.started == {}
    assert ledger.ended == {task.task_id: 1}


def test_a_cancellation_right_before_the_end_leaves_one_end(executor, ledger):
    store = CancellingStore()
    answers: list[bool] = []

    @module(id="race.last")
    async def last() -> dict[str, Any]:
        """Have the store cancel this task before it hears of the end"""
        store.before_update = lambda task_id: answers.append(manager.cancel(task_id))
        return {}

    executor.registry.register(last.id, last)
    with AsyncTaskManager(executor, store=store) as manager:
        task = manager.wait(manager.submit("race.last", on_complete=ledger.hear, on_error=ledger.hear), PATIENCE)

    assert answers == [True]
    assert (task.status, task.cancel_requested) == ("completed", True)
    assert ledger.ended == {task.task_id: 1}


@pytest.mark.req("R-5.8-13")
@pytest.mark.parametrize("seed", range(3))
def test_cancel_and_start_at_the_same_instant(executor, ledger, seed):
    """Whoever is first: a cancelled task that was never attempted never ran, and each task ends once."""
    dice = random.Random(seed)
    rounds = 150
    with AsyncTaskManager(executor, max_concurrent=4) as manager:
        barrier = threading.Barrier(2)
        ids: dict[int, str] = {}

        def cancel_each() -> None:
            for number in range(rounds):
                barrier.wait(PATIENCE)
                manager.cancel(ids[number])

        with ThreadPoolExecutor(1) as pool:
            cancelling = pool.submit(cancel_each)
            for number in range(rounds):
                name = dice.choice(["race.sync", "race.slow"])
                ids[number] = manager.submit(
                    name, {"number": number}, on_complete=ledger.hear, on_error=ledger.hear
                ).task_id
                barrier.wait(PATIENCE)
            cancelling.result(PATIENCE)
        ends = {number: manager.wait(task_id, PATIENCE) for number, task_id in ids.items()}

    _assert_nothing_lost_or_twice(ends, ledger)


@pytest.mark.parametrize("seed", range(2))
def test_a_thousand_tasks_of_many_threads_with_random_cancellations(executor, ledger, seed):
    numbers = range(TASKS)
    ids: dict[int, str] = {}
    with AsyncTaskManager(executor, max_concurrent=16, retry=RetryPolicy(first_delay=0)) as manager:

        def submit_some(part: int) -> None:
            dice = random.Random(seed * 100 + part)
            for number in numbers[part::4]:
                name = dice.choice(["race.sync", "race.slow", "race.shaky"])
                ids[number] = manager.submit(
                    name, {"number": number}, on_complete=ledger.hear, on_error=ledger.hear
                ).task_id
                for _ in range(dice.randrange(2)):
                    manager.cancel(ids[dice.choice(tuple(ids))])

        with ThreadPoolExecutor(4) as pool:
            for each in [pool.submit(submit_some, part) for part in range(4)]:
                each.result(PATIENCE)
        ends = {number: manager.wait(task_id, PATIENCE) for number, task_id in ids.items()}
        assert len(manager.list()) == TASKS

    assert len(ends) == TASKS
    assert {task.status for task in ends.values()} == {"completed", "cancelled"}
    _assert_nothing_lost_or_twice(ends, ledger)
    assert not [thread for thread in threading.enumerate() if thread.name == "apcore-tasks"]


def test_a_thousand_tasks_on_the_loop_of_the_submitter(executor, ledger):
    async def run() -> dict[int, Task]:
        dice = random.Random(5)
        async with AsyncTaskManager(executor, max_concurrent=16) as manager:
            ids = {
                number: manager.submit("race.slow", {"number": number}, on_complete=ledger.hear, on_error=ledger.hear)
                for number in range(TASKS)
            }
            for number in dice.sample(range(TASKS), 300):
                manager.cancel(ids[number])
                await asyncio.sleep(0)
            return {number: await manager.wait_async(task_id, PATIENCE) for number, task_id in ids.items()}

    _assert_nothing_lost_or_twice(asyncio.run(run()), ledger)


def test_a_loop_that_ends_in_the_middle_leaves_nobody_waiting(executor, ledger):
    manager = AsyncTaskManager(executor, max_concurrent=3)

    async def submit_and_leave() -> list[str]:
        ids = [manager.submit("race.slow", {"number": number}).task_id for number in range(50)]
        await asyncio.sleep(0)
        return ids

    ids = [task_id for _ in range(20) for task_id in asyncio.run(submit_and_leave())]
    own = manager.submit("race.slow", {"number": 1}).task_id

    assert all(manager.wait(task_id, PATIENCE).is_finished for task_id in ids)
    assert manager.wait(own, PATIENCE).status == "completed"
    manager.shutdown(timeout=PATIENCE)


def test_shutdown_in_the_middle_of_everything(executor, ledger):
    manager = AsyncTaskManager(executor, max_concurrent=4)
    ids = [
        manager.submit(name, {"number": number}, on_complete=ledger.hear, on_error=ledger.hear).task_id
        for number in range(200)
        for name in ("race.sync", "race.slow")
    ]

    manager.shutdown(cancel=True, timeout=PATIENCE)

    assert all(manager.get_status(task_id).is_finished for task_id in ids)
    assert ledger.ended == dict.fromkeys(ids, 1)


def _assert_nothing_lost_or_twice(ends: dict[int, Task], ledger: Ledger) -> None:
    for number, task in ends.items():
        assert task.is_finished
        # A cancellation may fall between the start of an attempt and the first line of the module.
        assert ledger.started[number] in (task.attempts, max(0, task.attempts - 1))
        if task.status == "completed":
            assert ledger.started[number] == task.attempts
            assert task.result == {"number": number}
    assert ledger.ended == {task.task_id: 1 for task in ends.values()}
