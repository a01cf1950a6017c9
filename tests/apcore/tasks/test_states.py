import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.tasks import TASK_TRANSITIONS, TaskStatus, can_transition

LEGAL = {
    ("idle", "pending"),
    ("pending", "running"),
    ("running", "completed"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("cancelled", "pending"),
    ("failed", "pending"),
}


@pytest.mark.req("R-5.8-01")
@given(st.sampled_from(TaskStatus), st.sampled_from(TaskStatus))
def test_exactly_the_transitions_of_the_specification_are_legal(current: TaskStatus, target: TaskStatus) -> None:
    assert can_transition(current, target) == ((current.value, target.value) in LEGAL)


def test_every_state_is_in_the_table() -> None:
    assert set(TASK_TRANSITIONS) == set(TaskStatus)


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(ValueError, match="dozing"):
        can_transition("running", "dozing")
