import dataclasses
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import ExecutionCancelledError, ModuleError
from apcore.tasks import Task, TaskStatus, TaskTransitionError, can_transition
from apcore.tasks.task import percentage

VERBS: dict[str, Callable[[Task], Task]] = {
    "submit": Task.submit,
    "begin": Task.begin,
    "complete": lambda task: task.complete({}),
    "fail": lambda task: task.fail(ModuleError("no")),
    "cancel": lambda task: task.cancel(ExecutionCancelledError()),
    "retry": Task.retry,
}


def task_in(status: TaskStatus) -> Task:
    return dataclasses.replace(Task("1", "a.b", "0" * 32), status=status)


@pytest.mark.req("R-5.8-01", "R-5.8-02", "R-5.8-03", "R-5.8-05")
@given(st.sampled_from(TaskStatus), st.sampled_from(TaskStatus))
def test_a_task_moves_exactly_as_the_table_says(current: TaskStatus, target: TaskStatus) -> None:
    task = task_in(current)

    if can_transition(current, target):
        assert task.move(target).status is target
    else:
        with pytest.raises(TaskTransitionError) as refusal:
            task.move(target)
        assert refusal.value.details == {"task_id": "1", "from": current.value, "to": target.value}


@pytest.mark.req("R-5.8-03", "R-5.8-05")
@given(st.lists(st.sampled_from(sorted(VERBS))))
def test_no_sequence_of_verbs_takes_a_forbidden_way(verbs: list[str]) -> None:
    task = task_in(TaskStatus.IDLE)
    for verb in verbs:
        before = task
        try:
            task = VERBS[verb](before)
        except TaskTransitionError:
            continue
        cancelled_waiting = (before.status, task.status) == (TaskStatus.PENDING, TaskStatus.CANCELLED)
        assert cancelled_waiting or can_transition(before.status, task.status)
        assert before.status != TaskStatus.COMPLETED


def test_a_task_is_data_that_nobody_changes() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        task_in(TaskStatus.IDLE).status = TaskStatus.RUNNING  # type: ignore[misc]  # what must not work


def test_neither_result_nor_error_are_in_the_text_of_a_task() -> None:
    running = task_in(TaskStatus.RUNNING)

    assert "hunter2" not in repr(running.complete({"password": "hunter2"}))
    assert "hunter2" not in repr(running.fail(ModuleError("hunter2")))


@pytest.mark.req("R-5.8-09")
@given(st.floats() | st.integers(-(10**6), 10**6), st.none() | st.floats() | st.integers(-1000, 1000))
def test_a_percentage_is_always_between_0_and_100(done: float, total: float | None) -> None:
    assert 0 <= percentage(done, total) <= 100


@pytest.mark.req("R-5.8-09")
@given(st.floats())
def test_a_report_is_brought_into_the_range(percent: float) -> None:
    assert 0 <= task_in(TaskStatus.RUNNING).report(percent, "").progress <= 100 or math.isnan(percent)


@given(st.sampled_from([status for status in TaskStatus if status is not TaskStatus.RUNNING]))
def test_only_a_running_task_reports_progress_or_is_asked_to_end(status: TaskStatus) -> None:
    task = task_in(status)

    assert task.report(50, "half") is task
    assert task.ask_to_cancel() is task
