import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from apcore.tasks import MemoryTaskStore, Task, TaskNotFoundError, TaskStatus, TaskStore, TaskTransitionError

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def make(task_id: str, status: TaskStatus = TaskStatus.PENDING, finished_at: datetime | None = None) -> Task:
    return dataclasses.replace(Task(task_id, "a.b", "0" * 32), status=status, finished_at=finished_at)


@pytest.fixture
def store() -> MemoryTaskStore:
    return MemoryTaskStore()


def test_the_memory_store_fits_the_port(store):
    assert isinstance(store, TaskStore)


def test_an_update_gives_the_task_before_and_after(store):
    store.add(make("1"))

    before, after = store.update("1", Task.begin)

    assert (before.status, after.status) == ("pending", "running")
    assert store.get("1") is after


def test_a_refused_update_changes_nothing(store):
    store.add(make("1"))

    with pytest.raises(TaskTransitionError):
        store.update("1", lambda task: task.complete({}))
    assert store.get("1").status == "pending"


def test_what_is_not_there_is_none_or_an_error(store):
    assert store.get("1") is None
    with pytest.raises(TaskNotFoundError):
        store.update("1", Task.begin)


def test_tasks_are_listed_oldest_first(store):
    for task in (make("2"), make("1", TaskStatus.RUNNING), make("3")):
        store.add(task)
    store.update("2", Task.begin)

    assert [task.task_id for task in store.list()] == ["2", "1", "3"]
    assert [task.task_id for task in store.list(TaskStatus.RUNNING)] == ["2", "1"]


def test_only_what_finished_long_ago_is_removed(store):
    store.add(make("old", TaskStatus.COMPLETED, NOON))
    store.add(make("new", TaskStatus.FAILED, NOON + timedelta(hours=2)))
    store.add(make("waiting"))

    assert store.remove_finished(NOON + timedelta(hours=1)) == 1
    assert [task.task_id for task in store.list()] == ["new", "waiting"]
