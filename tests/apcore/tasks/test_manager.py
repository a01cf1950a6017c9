"""Submitting, asking, waiting, cancelling, retrying."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import weakref
from datetime import UTC, datetime
from typing import Any

import pytest

from apcore.context import Context, Identity
from apcore.errors import InternalError, InvalidInputError
from apcore.tasks import (
    NEVER_AGAIN,
    AsyncTaskManager,
    MemoryTaskStore,
    RetryPolicy,
    Task,
    TaskLimitExceededError,
    TaskManagerClosedError,
    TaskNotFoundError,
    TaskStatus,
)

PATIENCE = 30
"""How many seconds a test waits for what takes milliseconds."""

AT_ONCE = RetryPolicy(first_delay=0)


class StateLog(MemoryTaskStore):
    """Keeps every state that a reader could see."""

    def __init__(self) -> None:
        super().__init__()
        self.states: list[str] = []

    def add(self, task: Task) -> None:
        self.states.append(task.status)
        super().add(task)

    def update(self, task_id: str, change: Any) -> tuple[Task, Task]:
        before, after = super().update(task_id, change)
        if after.status is not before.status:
            self.states.append(after.status)
        return before, after


# Submitting and asking


@pytest.mark.req("R-5.8-06")
def test_submitting_gives_a_task_with_an_id_that_is_pending(manager, workshop):
    task = manager.submit("work.held")

    assert isinstance(task.task_id, str)
    assert task.status == "pending"
    assert task.to_dict() == {"task_id": task.task_id, "module_id": "work.held", "status": "pending", "progress": 0.0}
    assert manager.get_status(task.task_id).status in ("pending", "running")


@pytest.mark.req("R-5.8-07", "R-5.8-08")
def test_a_task_does_where_its_id_is_asked_for(manager):
    task = manager.submit("work.echo", {"number": 1})

    assert manager.wait(task, PATIENCE) == asyncio.run(manager.wait_async(task, PATIENCE)) == manager.get_status(task)
    assert manager.cancel(task) is False


@pytest.mark.req("R-5.8-07", "R-5.8-01")
@pytest.mark.parametrize("module_id", ["work.echo", "work.echo_async"])
def test_a_task_that_succeeds_has_its_result_and_full_progress(manage, module_id):
    store = StateLog()
    manager = manage(store=store)

    task = manager.wait(manager.submit(module_id, {"number": 7}), PATIENCE)

    assert task == manager.get_status(task.task_id)
    assert (task.status, task.progress, task.error) == ("completed", 100, None)
    assert task.result["number"] == 7
    assert task.to_dict() == {
        "task_id": task.task_id,
        "module_id": module_id,
        "status": "completed",
        "progress": 100,
        "result": task.result,
    }
    assert store.states == ["pending", "running", "completed"]


@pytest.mark.req("R-5.8-07", "R-5.8-01")
def test_a_task_that_fails_has_its_error_without_the_text_of_foreign_exceptions(manage):
    store = StateLog()
    manager = manage(store=store)

    task = manager.wait(manager.submit("work.broken"), PATIENCE)

    assert (task.status, task.result, task.error["code"]) == ("failed", None, "MODULE_EXECUTE_ERROR")
    assert "hunter2" not in str(task.to_dict())
    assert store.states == ["pending", "running", "failed"]


@pytest.mark.req("R-5.8-12")
@pytest.mark.parametrize(
    ("module_id", "inputs", "code"),
    [
        ("work.forbidden", {}, "ACL_DENIED"),
        ("work.unknown", {}, "MODULE_NOT_FOUND"),
        ("Not An ID", {}, "INVALID_MODULE_ID"),
        ("work.echo", {"number": "7"}, "SCHEMA_VALIDATION_ERROR"),
    ],
)
def test_a_task_goes_through_the_whole_pipeline(manager, workshop, module_id, inputs, code):
    task = manager.wait(manager.submit(module_id, inputs), PATIENCE)

    assert (task.status, task.error["code"]) == ("failed", code)
    assert workshop.calls == []


def test_a_task_keeps_trace_and_identity_of_its_submitter(manager, workshop):
    context = Context.create(identity=Identity("42"))

    task = manager.wait(manager.submit("work.echo", {"number": 1}, context), PATIENCE)

    assert (task.trace_id, task.identity) == (context.trace_id, Identity("42"))
    assert workshop.calls == [context.trace_id]


def test_a_task_outlives_the_deadline_and_the_cancel_token_of_the_call_that_submitted_it(manager):
    context = Context.create().child("some.caller")
    context.deadline = 0.0
    context.cancel_token.cancel()

    assert manager.wait(manager.submit("work.echo", {"number": 1}, context), PATIENCE).status == "completed"


def test_inputs_are_those_of_the_moment_of_submission(manage, workshop):
    manager = manage(max_concurrent=1)
    inputs = {"number": 1}
    manager.submit("work.held")
    task_id = manager.submit("work.echo", inputs).task_id
    inputs["number"] = 2
    workshop.gate.set()

    assert manager.wait(task_id, PATIENCE).result["number"] == 1


@pytest.mark.req("R-5.8-11")
def test_an_unknown_task_is_an_error(manager):
    manager.submit("work.echo", {"number": 1})

    for ask in (manager.get_status, manager.cancel, manager.wait):
        with pytest.raises(TaskNotFoundError):
            ask("nope")


def test_tasks_are_listed_by_state(manager, workshop):
    done = manager.submit("work.echo", {"number": 1}).task_id
    manager.wait(done, PATIENCE)
    running = manager.submit("work.held").task_id
    assert workshop.entered.wait(PATIENCE)

    assert [task.task_id for task in manager.list()] == [done, running]
    assert [task.task_id for task in manager.list("running")] == [running]
    with pytest.raises(ValueError, match="dozing"):
        manager.list("dozing")


# Progress and callbacks


@pytest.mark.req("R-5.8-09", "R-5.8-07")
@pytest.mark.parametrize(
    ("step", "progress"),
    [
        ([150, None], 100),
        ([-1, None], 0),
        ([25, None], 25),
        ([1, 4], 25),
        ([9, 4], 100),
        ([1, 0], 0),
    ],
)
def test_progress_stays_between_0_and_100(manager, workshop, step, progress):
    task_id = manager.submit("work.stepwise", {"steps": [step]}).task_id
    assert workshop.entered.wait(PATIENCE)

    task = manager.get_status(task_id)
    assert (task.progress, task.message) == (progress, f"at {step[0]}")


@pytest.mark.req("R-5.8-10")
@pytest.mark.parametrize("is_async", [False, True])
def test_callbacks_hear_of_progress_and_of_the_end_once_and_in_order(manager, workshop, is_async):
    workshop.gate.set()
    heard: list[tuple[str, str, float]] = []

    def recorder(name: str) -> Any:
        def record(task: Task) -> None:
            heard.append((name, task.task_id, task.progress))

        async def record_async(task: Task) -> None:
            record(task)

        return record_async if is_async else record

    callbacks = {name: recorder(name) for name in ("on_progress", "on_complete", "on_error")}
    good = manager.submit("work.stepwise", {"steps": [[1, 2], [2, 2]]}, **callbacks).task_id
    manager.wait(good, PATIENCE)
    bad = manager.submit("work.broken", **callbacks).task_id
    manager.wait(bad, PATIENCE)

    assert heard == [
        ("on_progress", good, 50),
        ("on_progress", good, 100),
        ("on_complete", good, 100),
        ("on_error", bad, 0),
    ]


def test_a_callback_that_fails_harms_nobody_and_is_logged_without_its_text(manager, workshop, caplog):
    workshop.gate.set()

    def fail(task: Task) -> None:
        raise ValueError("password=hunter2")

    async def fail_later(task: Task) -> None:
        raise ValueError("password=hunter2")

    task_id = manager.submit("work.stepwise", {"steps": [[1, 2]]}, on_progress=fail, on_complete=fail_later).task_id

    assert manager.wait(task_id, PATIENCE).status == "completed"
    assert caplog.text.count("ValueError") == 2
    assert "hunter2" not in caplog.text


def test_who_cancels_a_waiting_task_is_heard_by_on_error(manage, workshop):
    manager = manage(max_concurrent=1)
    heard: list[Task] = []
    manager.submit("work.held")
    task_id = manager.submit("work.echo", {"number": 1}, on_error=heard.append, on_complete=heard.append).task_id

    manager.cancel(task_id)
    manager.wait(task_id, PATIENCE)

    assert [task.status for task in heard] == ["cancelled"]


# Cancelling


@pytest.mark.req("R-5.8-13", "R-5.8-08")
def test_a_task_that_waits_is_cancelled_at_once_and_its_module_never_runs(manage, workshop):
    manager = manage(max_concurrent=1)
    manager.submit("work.held")
    assert workshop.entered.wait(PATIENCE)
    task_id = manager.submit("work.echo", {"number": 1}).task_id

    assert manager.cancel(task_id) is True
    task = manager.get_status(task_id)
    assert (task.status, task.error["code"], task.attempts) == ("cancelled", "EXECUTION_CANCELLED", 0)
    workshop.gate.set()
    manager.shutdown(timeout=PATIENCE)

    assert workshop.calls == ["held"]
    assert manager.get_status(task_id) == task


@pytest.mark.req("R-5.8-08", "R-5.8-01")
def test_a_task_that_runs_ends_when_its_module_heeds_the_token(manage, workshop):
    store = StateLog()
    manager = manage(store=store)
    task_id = manager.submit("work.held").task_id
    assert workshop.entered.wait(PATIENCE)

    assert manager.cancel(task_id) is True
    assert manager.wait(task_id, PATIENCE).status == "cancelled"
    assert manager.cancel(task_id) is False
    assert store.states == ["pending", "running", "cancelled"]


def test_a_coroutine_that_ignores_its_token_is_cancelled_where_it_awaits(manage, workshop):
    manager = manage(cancel_grace=0)
    task_id = manager.submit("work.asleep").task_id
    assert workshop.entered.wait(PATIENCE)

    manager.cancel(task_id)

    task = manager.wait(task_id, PATIENCE)
    assert (task.status, task.error["code"]) == ("cancelled", "EXECUTION_CANCELLED")


def test_a_module_that_finishes_all_the_same_has_completed(manager, workshop):
    task_id = manager.submit("work.deaf").task_id
    assert workshop.entered.wait(PATIENCE)
    assert manager.cancel(task_id) is True
    workshop.gate.set()

    task = manager.wait(task_id, PATIENCE)
    assert (task.status, task.result, task.cancel_requested) == ("completed", {"deaf": True}, True)


@pytest.mark.req("R-5.8-02")
def test_a_completed_task_stays_completed(manager):
    task = manager.wait(manager.submit("work.echo", {"number": 1}), PATIENCE)

    assert manager.cancel(task.task_id) is False
    assert manager.get_status(task.task_id) == task


# Retrying


@pytest.mark.req("R-5.8-04")
def test_an_idempotent_module_is_tried_again_and_waits_as_pending_in_between(manage, workshop):
    workshop.failures_left = 2
    store = StateLog()
    manager = manage(retry=AT_ONCE, store=store)

    task = manager.wait(manager.submit("work.shaky"), PATIENCE)

    assert (task.status, task.attempts, task.error) == ("completed", 3, None)
    assert store.states == ["pending", "running", "pending", "running", "pending", "running", "completed"]


def test_attempts_are_capped_and_only_the_last_failure_is_told(manage, workshop):
    workshop.failures_left = 99
    manager = manage(retry=AT_ONCE)
    heard: list[Task] = []

    task = manager.wait(manager.submit("work.shaky", on_error=heard.append), PATIENCE)

    assert (task.status, task.attempts, task.error["code"]) == ("failed", 3, "SHAKY_NOT_YET")
    assert heard == [task]
    assert len(workshop.calls) == 3


@pytest.mark.parametrize(
    ("module_id", "retry"), [("work.broken", AT_ONCE), ("work.forbidden", AT_ONCE), ("work.shaky", NEVER_AGAIN)]
)
def test_what_is_not_safe_or_cannot_succeed_is_not_tried_again(manage, workshop, module_id, retry):
    workshop.failures_left = 99

    manager = manage(retry=retry)

    assert manager.wait(manager.submit(module_id), PATIENCE).attempts == 1


def test_a_task_that_waits_for_its_next_attempt_can_be_cancelled(manage, workshop):
    workshop.failures_left = 99
    manager = manage(retry=RetryPolicy(first_delay=3600, longest_delay=3600))
    task_id = manager.submit("work.shaky").task_id
    while manager.get_status(task_id).status != "pending" or not workshop.calls:
        pass

    assert manager.cancel(task_id) is True
    assert manager.wait(task_id, PATIENCE).status == "cancelled"
    assert workshop.calls == ["shaky"]


# Limits


def test_more_tasks_than_allowed_are_refused_until_one_finishes(manage, workshop):
    manager = manage(max_tasks=2, max_concurrent=1)
    first, second = (manager.submit("work.held").task_id for _ in range(2))

    with pytest.raises(TaskLimitExceededError, match="2 tasks") as refusal:
        manager.submit("work.held")
    manager.cancel(second)
    third = manager.submit("work.held").task_id

    assert refusal.value.to_dict()["details"] == {"max_tasks": 2}
    assert refusal.value.retryable is True
    assert {task.task_id for task in manager.list()} == {first, second, third}


def test_no_more_than_max_concurrent_run(manage, workshop):
    manager = manage(max_concurrent=3)
    for _ in range(10):
        manager.submit("work.held")
    while len(workshop.calls) < 3:
        pass

    assert len(manager.list("running")) == 3
    assert len(manager.list("pending")) == 7


@pytest.mark.parametrize(
    "options",
    [
        {"max_tasks": 0},
        {"max_tasks": "5"},
        {"max_concurrent": 0},
        {"max_concurrent": 1.5},
        {"keep_finished": -1},
        {"keep_finished": float("nan")},
        {"cancel_grace": None},
    ],
)
def test_limits_that_make_no_sense_are_refused(manage, options):
    [name] = options
    with pytest.raises(InvalidInputError, match=f"AsyncTaskManager: {name} must be"):
        manage(**options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"inputs": "number=1"}, "inputs of a task must be an object"),
        ({"inputs": 5}, "inputs of a task must be an object"),
        ({"inputs": {"lock": threading.Lock()}}, "data that can be copied"),
        ({"on_complete": "print"}, "on_complete must be a function"),
    ],
)
def test_what_cannot_be_submitted_is_said_at_once(manage, arguments, words):
    manager = manage()

    with pytest.raises(InvalidInputError, match=words):
        manager.submit("work.echo", **arguments)
    assert not manager.list()


def test_nobody_waits_for_a_task_that_another_manager_runs(manage):
    store = MemoryTaskStore()
    task_id = manage(store=store).submit("work.held").task_id

    with pytest.raises(InternalError, match="Nobody here runs task"):
        manage(store=store).wait(task_id)


# Keeping house


def test_finished_tasks_are_dropped_by_age_and_others_stay(manager, workshop):
    done = manager.wait(manager.submit("work.echo", {"number": 1}), PATIENCE)
    running = manager.submit("work.held").task_id

    assert manager.reap() == 0
    assert manager.reap(older_than=0) == 1
    assert [task.task_id for task in manager.list()] == [running]
    with pytest.raises(TaskNotFoundError):
        manager.get_status(done.task_id)


def test_submitting_reaps(manage):
    manager = manage(keep_finished=0)
    manager.wait(manager.submit("work.echo", {"number": 1}), PATIENCE)

    last = manager.submit("work.echo", {"number": 2}).task_id

    assert [task.task_id for task in manager.list()] == [last]


def test_shutdown_waits_and_takes_nothing_more(manage, workshop):
    manager = manage(max_concurrent=1)
    held, waiting = manager.submit("work.held").task_id, manager.submit("work.echo", {"number": 1}).task_id
    with pytest.raises(TimeoutError):
        manager.shutdown(timeout=0)
    with pytest.raises(TaskManagerClosedError):
        manager.submit("work.echo", {"number": 1})
    workshop.gate.set()

    manager.shutdown(timeout=PATIENCE)

    assert [manager.get_status(each).status for each in (held, waiting)] == ["completed", "completed"]


def test_shutdown_may_cancel(manage, workshop):
    manager = manage(max_concurrent=1, cancel_grace=0)
    tasks = [manager.submit("work.held"), manager.submit("work.asleep"), manager.submit("work.echo", {"number": 1})]
    assert workshop.entered.wait(PATIENCE)

    manager.shutdown(cancel=True, timeout=PATIENCE)

    assert {manager.get_status(each).status for each in tasks} == {"cancelled"}
    assert workshop.calls == ["held"]


def test_a_with_block_waits_for_its_tasks(executor):
    with AsyncTaskManager(executor) as manager:
        task_id = manager.submit("work.echo", {"number": 1}).task_id

    assert manager.get_status(task_id).status is TaskStatus.COMPLETED


def test_a_with_block_that_fails_cancels_them(executor, workshop):
    manager = AsyncTaskManager(executor)

    def fail_in_the_middle() -> None:
        with manager:
            manager.submit("work.held")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_in_the_middle()

    assert [task.status for task in manager.list()] == [TaskStatus.CANCELLED]


def test_a_forgotten_manager_leaves_no_thread(executor):
    manager = AsyncTaskManager(executor)
    manager.wait(manager.submit("work.echo", {"number": 1}), PATIENCE)
    threads = [thread for thread in threading.enumerate() if thread.name == "apcore-tasks"]
    forgotten = weakref.ref(manager)
    del manager
    while forgotten() is not None:  # its last step may still be returning
        gc.collect()

    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)


def test_a_store_that_fails_leaves_nobody_waiting_and_blocks_no_other_task(manage, workshop, caplog):
    class FailingStore(MemoryTaskStore):
        fails = True

        def update(self, task_id: str, change: Any) -> tuple[Task, Task]:
            if self.fails:
                raise OSError("the disk is full")
            return super().update(task_id, change)

    store = FailingStore()
    manager = manage(store=store, max_concurrent=1)

    with pytest.raises(InternalError):
        manager.wait(manager.submit("work.echo", {"number": 1}), PATIENCE)
    store.fails = False
    assert manager.wait(manager.submit("work.echo", {"number": 2}), PATIENCE).status == "completed"


# Event loops


def test_a_task_runs_on_the_loop_that_submits_it(executor):
    async def run() -> Task:
        async with AsyncTaskManager(executor) as manager:
            task_id = manager.submit("work.echo_async", {"number": 1}).task_id
            assert "apcore-tasks" not in {thread.name for thread in threading.enumerate()}
            return await manager.wait_async(task_id, PATIENCE)

    assert asyncio.run(run()).status == "completed"


def test_waiting_without_await_on_a_loop_is_refused_instead_of_a_deadlock(manager):
    async def run() -> None:
        with pytest.raises(InvalidInputError, match="wait_async"):
            manager.wait(manager.submit("work.echo", {"number": 1}))
        with pytest.raises(InvalidInputError, match="shutdown_async"):
            manager.shutdown()

    asyncio.run(run())


def test_tasks_of_a_loop_that_ends_are_cancelled_and_the_others_go_on(manage, workshop):
    manager = manage(max_concurrent=2)

    async def run() -> list[str]:
        tasks = [manager.submit("work.asleep") for _ in range(5)]
        await asyncio.to_thread(workshop.entered.wait, PATIENCE)
        return tasks

    tasks = asyncio.run(run())

    assert {manager.wait(each, PATIENCE).status for each in tasks} == {"cancelled"}
    assert manager.wait(manager.submit("work.echo", {"number": 1}), PATIENCE).status == "completed"


def test_waiting_can_be_given_up_without_harm_to_the_task(manage, workshop):
    manager = manage()
    task_id = manager.submit("work.held").task_id

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await manager.wait_async(task_id, 0)

    asyncio.run(give_up())
    with pytest.raises(TimeoutError):
        manager.wait(task_id, 0)
    workshop.gate.set()
    assert manager.wait(task_id, PATIENCE).status == "completed"


def test_context_variables_of_the_submitter_stay_with_it(executor):
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    seen: list[str] = []

    async def run() -> None:
        variable.set("the request")
        async with AsyncTaskManager(executor) as manager:
            manager.submit("work.echo", {"number": 1}, on_complete=lambda task: seen.append(variable.get("nothing")))

    asyncio.run(run())
    assert seen == ["nothing"]


def test_times_are_in_order_and_have_a_zone(manager):
    task = manager.wait(manager.submit("work.echo", {"number": 1}), PATIENCE)

    assert task.submitted_at <= task.started_at <= task.finished_at <= datetime.now(UTC)
