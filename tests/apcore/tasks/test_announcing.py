"""What subscribers hear of tasks."""

import pytest

from apcore import EventEmitter, Executor, Registry, module
from apcore.errors import ModuleExecuteError
from apcore.tasks import AsyncTaskManager, RetryPolicy


class Ward:
    failures = 0


@module(id="work.echo")
def echo(number: int) -> dict:  # type: ignore[type-arg]  # as people write it
    """Give the number back"""
    return {"number": number}


@module(id="work.fail", annotations={"idempotent": True})
def fail() -> dict:  # type: ignore[type-arg]  # as people write it
    """Fail as often as it was told to"""
    if Ward.failures > 0:
        Ward.failures -= 1
        raise ModuleExecuteError("the password is hunter22", retryable=True)
    return {"done": True}


@pytest.fixture
def emitter():
    return EventEmitter()


@pytest.fixture
def heard(emitter):
    heard = []
    emitter.subscribe(heard.append, types=["apcore.task.*"])
    return heard


@pytest.fixture
def manager(emitter):
    registry = Registry()
    registry.register("work.echo", echo)
    registry.register("work.fail", fail)
    retry = RetryPolicy(max_attempts=3, first_delay=0.001)
    with AsyncTaskManager(Executor(registry), events=emitter, retry=retry) as manager:
        yield manager


def names(heard):
    return [event.type.rpartition(".")[2] for event in heard]


def test_the_life_of_a_task_is_heard(manager, heard):
    task_id = manager.submit("work.echo", {"number": 1}).task_id
    task = manager.wait(task_id, 10)
    assert names(heard) == ["submitted", "started", "completed"]
    assert dict(heard[-1].data) == {"module_id": "work.echo", "task_id": task_id}
    assert {event.trace_id for event in heard} == {task.trace_id}


@pytest.mark.req("RV-07")
def test_a_failure_is_heard_with_its_code_and_without_its_text(manager, heard):
    Ward.failures = 100
    manager.wait(manager.submit("work.fail"), 10)
    assert names(heard) == ["submitted", "started", "retried", "started", "retried", "started", "failed"]
    assert [event.data["attempts"] for event in heard if event.type == "apcore.task.retried"] == [1, 2]
    assert heard[-1].data["error_code"] == "MODULE_EXECUTE_ERROR"
    assert heard[-1].severity == "error"
    assert "hunter22" not in str([event.to_dict() for event in heard])


def test_a_task_that_is_cancelled_before_it_starts_was_never_started(emitter, heard):
    registry = Registry()
    registry.register("work.echo", echo)
    with AsyncTaskManager(Executor(registry), events=emitter, max_concurrent=1) as manager:
        tasks = [manager.submit("work.echo", {"number": number}) for number in range(50)]
        cancelled = manager.cancel(tasks[-1])
        for task in tasks:
            manager.wait(task, 10)
    mine = [event for event in heard if event.data["task_id"] == tasks[-1].task_id]
    assert names(mine) == (["submitted", "cancelled"] if cancelled else ["submitted", "started", "completed"])


def test_a_failing_subscriber_disturbs_no_task(manager, emitter):
    def explode(event):
        raise RuntimeError

    emitter.subscribe(explode)
    assert manager.wait(manager.submit("work.echo", {"number": 1}), 10).result == {"number": 1}
