import threading
import time

import pytest

from apcore.errors import ModuleNotFoundError
from apcore.modules.activity import Activity, Inside, drained, leave, stay, threads_inside


def test_a_call_is_inside_as_long_as_its_block():
    activity, call = Activity(), object()
    with Inside(activity, call, "a.b"):
        assert activity == {call: threading.get_ident()}
    assert activity == {}


def test_nobody_enters_a_module_that_leaves():
    activity = Activity()
    leave(activity)
    with pytest.raises(ModuleNotFoundError, match=r"a\.b"), Inside(activity, object(), "a.b"):
        raise AssertionError("inside")
    assert threads_inside(activity) == []
    assert drained(activity, 0) is True

    stay(activity)
    with Inside(activity, object(), "a.b"):
        assert threads_inside(activity) == [threading.get_ident()]


def test_waiting_ends_with_the_last_call_or_with_the_time():
    activity, call = Activity(), object()
    assert drained(activity, 0) is True

    activity[call] = -1
    before = time.monotonic()
    assert drained(activity, 0.05) is False
    assert 0.05 <= time.monotonic() - before < 2

    threading.Timer(0.05, activity.clear).start()
    assert drained(activity, 10) is True


def test_the_calls_of_the_waiting_thread_are_not_waited_for():
    activity = Activity()
    with Inside(activity, object(), "a.b"):
        assert drained(activity, 60) is False
