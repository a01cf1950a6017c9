"""The rules that every sequence of calls and events keeps (RFC 005)."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.events import CORE_EVENTS, core_event
from apcore.events.invariants import APPROVAL_ORDER, TASK_ORDER, InvariantChecker, Step
from apcore.tasks.states import TASK_TRANSITIONS, TaskStatus
from tests.apcore.events.samples import payload_of

See = Callable[..., list[str]]


@pytest.fixture
def checker() -> InvariantChecker:
    return InvariantChecker()


@pytest.fixture
def see(checker: InvariantChecker) -> See:
    numbers = iter(range(1, 1000))

    def see(kind: Any, call: int, caller: int | None = None, sequence: int | None = None) -> list[str]:
        number = next(numbers) if sequence is None else sequence
        return checker.see(Step(kind, "s", call, number, f"m.{call}", caller))

    return see


@pytest.mark.req("RV-09")
@pytest.mark.parametrize("second", [5, 4, 0])
def test_a_number_that_does_not_grow_is_a_violation(see: See, second: int) -> None:
    assert see("start", 1, sequence=5) == []
    assert see("start", 2, 1, sequence=second) == [f"step {second} of m.2 comes after step 5"]


@pytest.mark.req("RV-10")
def test_a_chunk_without_start_is_a_violation(see: See) -> None:
    assert see("chunk", 1) == ["a chunk of m.1 comes outside of its call"]
    assert see("start", 1) == []
    assert see("chunk", 1) == []
    assert see("end", 1) == []
    assert see("chunk", 1) != []


@pytest.mark.req("RV-11")
def test_calls_that_cross_are_a_violation(see: See) -> None:
    see("start", 1)
    see("start", 2, 1)
    assert see("end", 1) == ["m.1 ends before m.2, which it called"]


@pytest.mark.req("RV-11", "RV-12")
def test_a_start_without_end_is_a_violation(checker: InvariantChecker, see: See) -> None:
    see("start", 1)
    assert checker.close("s") == ["m.1 has no result"]


@pytest.mark.req("RV-12")
def test_a_second_result_is_a_violation(see: See) -> None:
    see("start", 1)
    see("start", 2, 1)
    assert see("end", 2) == []
    assert see("end", 2) == ["m.2 has a second result"]


def test_a_result_without_start_is_a_violation(see: See) -> None:
    assert see("end", 7) == ["m.7 has a result without having started"]


def test_a_call_that_starts_twice_is_a_violation(see: See) -> None:
    see("start", 1)
    assert see("start", 1) == ["m.1 starts a second time"]


def test_a_call_from_a_call_that_is_over_is_a_violation(see: See) -> None:
    see("start", 1)
    see("start", 2, 1)
    see("end", 2)
    assert see("start", 3, 2) == ["m.3 starts outside of the call that made it"]


def test_a_call_may_be_tried_again_when_it_has_ended(see: See) -> None:
    assert [see("start", 1), see("end", 1), see("start", 1), see("end", 1)] == [[], [], [], []]


def test_a_cancelled_call_has_no_result(checker: InvariantChecker, see: See) -> None:
    see("start", 1)
    see("start", 2, 1)
    assert [see("skip", 2), see("end", 1), checker.close("s")] == [[], [], []]


def test_sessions_do_not_mix(checker: InvariantChecker) -> None:
    assert checker.see(Step("start", "one", 1, 5)) == []
    assert checker.see(Step("start", "other", 2, 1)) == []
    assert checker.see(Step("end", "other", 2, 2)) == []


@st.composite
def legal_sessions(draw: st.DrawFn) -> list[Step]:
    """A tree of calls, walked so that every call ends after those that it made; siblings may overlap."""
    steps: list[Step] = []
    alive: list[tuple[int, int | None]] = []
    made = 0
    for _ in range(draw(st.integers(1, 25))):
        callers = [call for call, _ in alive]
        leaves = [call for call in callers if call not in {caller for _, caller in alive}]
        what = draw(st.sampled_from(["start", "chunk", "end"] if alive else ["start"]))
        if what == "start":
            caller = draw(st.sampled_from([*callers])) if callers else None
            made += 1
            alive.append((made, caller))
            steps.append(Step("start", "s", made, 0, caller=caller))
        else:
            call = draw(st.sampled_from(callers if what == "chunk" else leaves))
            steps.append(Step(what, "s", call, 0))  # type: ignore[arg-type]  # chunk or end
            alive = [each for each in alive if what == "chunk" or each[0] != call]
    for call, _ in reversed(alive):
        steps.append(Step("end", "s", call, 0))
    return [Step(each.kind, "s", each.call, number, caller=each.caller) for number, each in enumerate(steps, 1)]


def violations(steps: list[Step]) -> list[str]:
    checker = InvariantChecker()
    return [wrong for step in steps for wrong in checker.see(step)] + checker.close("s")


@given(legal_sessions())
def test_no_legal_session_is_complained_about(steps: list[Step]) -> None:
    assert violations(steps) == []


@given(legal_sessions(), st.data())
def test_a_session_that_lost_a_start_or_an_end_is(steps: list[Step], data: st.DataObject) -> None:
    places = [place for place, step in enumerate(steps) if step.kind != "chunk"]
    lost = data.draw(st.sampled_from(places))
    assert violations(steps[:lost] + steps[lost + 1 :]) != []


@given(legal_sessions(), st.data())
def test_a_session_with_a_repeated_step_is(steps: list[Step], data: st.DataObject) -> None:
    again = data.draw(st.integers(0, len(steps) - 1))
    assert violations([*steps[: again + 1], steps[again], *steps[again + 1 :]]) != []


def task(state: str) -> Any:
    name = f"apcore.task.{state}"
    return core_event(name, {**payload_of(name), "task_id": "t"})


def approval(state: str) -> Any:
    name = f"apcore.approval.{state}"
    return core_event(name, {**payload_of(name), "approval_id": "a"})


@pytest.mark.req("RV-13")
@pytest.mark.parametrize(
    ("event", "before", "after"),
    [
        (task, "completed", "started"),
        (task, "completed", "failed"),
        (task, "cancelled", "completed"),
        (task, "submitted", "completed"),
        (approval, "denied", "granted"),
        (approval, "consumed", "consumed"),
        (approval, "pending", "consumed"),
        (approval, "cancelled", "granted"),
        (approval, "superseded", "granted"),
        (approval, "timeout", "consumed"),
    ],
)
def test_an_impossible_transition_is_a_violation(
    checker: InvariantChecker, event: Any, before: str, after: str
) -> None:
    assert checker.hear(event(before)) == []
    [wrong] = checker.hear(event(after))
    assert f"{after} cannot follow {before}" in wrong


@pytest.mark.parametrize(
    ("event", "before", "after", "may_follow"),
    [
        (task, "submitted", "completed", True),
        (approval, "pending", "consumed", True),
        (task, "failed", "completed", True),
        (task, "completed", "started", False),
        (approval, "denied", "consumed", False),
        (approval, "granted", "pending", False),
        (approval, "superseded", "consumed", False),
    ],
)
def test_where_others_work_too_what_lies_between_may_have_happened_there(
    event: Any, before: str, after: str, may_follow: bool
) -> None:
    checker = InvariantChecker(everything=False)
    checker.hear(event(before))
    assert (checker.hear(event(after)) == []) is may_follow


@pytest.mark.parametrize(
    ("event", "life"),
    [
        (task, ["submitted", "started", "completed"]),
        (task, ["submitted", "started", "retried", "started", "failed"]),
        (task, ["submitted", "cancelled"]),
        (approval, ["requested", "pending", "granted", "consumed"]),
        (approval, ["requested", "pending", "granted", "superseded"]),
        (approval, ["requested", "pending", "granted", "failed"]),
        (approval, ["requested", "pending", "timeout"]),
        (approval, ["pending", "pending", "granted", "granted"]),
    ],
)
def test_whole_lives_are_fine(checker: InvariantChecker, event: Any, life: list[str]) -> None:
    assert [checker.hear(event(state)) for state in life] == [[] for _ in life]


@given(st.lists(st.sampled_from(sorted(TASK_ORDER)), max_size=12))
def test_the_order_of_task_events_is_the_state_machine_of_tasks(states: list[str]) -> None:
    """A cancelled task passes through running (C-51), and an event says where it came to."""
    status = {
        "submitted": TaskStatus.PENDING,
        "retried": TaskStatus.PENDING,
        "started": TaskStatus.RUNNING,
        "completed": TaskStatus.COMPLETED,
        "failed": TaskStatus.FAILED,
        "cancelled": TaskStatus.CANCELLED,
    }
    for before, after in pairwise(states):
        one = InvariantChecker()
        one.hear(task(before))
        if not one.hear(task(after)):
            reachable = TASK_TRANSITIONS[status[before]]
            through_running = TASK_TRANSITIONS[TaskStatus.RUNNING] if TaskStatus.RUNNING in reachable else frozenset()
            through_failed = TASK_TRANSITIONS[TaskStatus.FAILED] if TaskStatus.FAILED in reachable else frozenset()
            assert status[after] in reachable | through_running | through_failed


def test_every_event_about_approvals_and_tasks_has_its_place() -> None:
    known = {f"apcore.approval.{state}" for state in APPROVAL_ORDER} | {f"apcore.task.{state}" for state in TASK_ORDER}
    assert known == {name for name in CORE_EVENTS if name.startswith(("apcore.approval.", "apcore.task."))}


def test_other_events_are_nobodys_business(checker: InvariantChecker) -> None:
    event = core_event("apcore.module.toggled", {"module_id": "a.b", "enabled": True})
    assert [checker.hear(event), checker.hear(event)] == [[], []]
