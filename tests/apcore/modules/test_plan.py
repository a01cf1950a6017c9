import pytest

from apcore.modules import Change, Plan

CHANGE = Change("delete", "users.42", "Delete user 42")


def test_a_plan_keeps_its_changes_as_a_tuple():
    plan = Plan((change for change in [CHANGE]), data={"user": 42})
    assert plan.changes == (CHANGE,)
    assert plan.data == {"user": 42}


def test_a_plan_needs_no_data():
    assert Plan([]) == Plan((), data=None)


def test_a_plan_of_anything_but_changes_is_refused():
    with pytest.raises(TypeError, match="expected a Change, got dict"):
        Plan([CHANGE.to_dict()])


def test_a_plan_cannot_be_changed():
    with pytest.raises(AttributeError):
        Plan([]).data = 1
