import threading
import time

import pytest

from apcore.errors import ModuleNotFoundError
from apcore.modules.activity import LEAVING, Activity, drained, leave, refuse, stay, threads_inside


def test_the_mark_of_a_module_that_leaves_is_no_call():
    activity = Activity()
    leave(activity)
    with pytest.raises(ModuleNotFoundError, match=r"a\.b"):
        refuse("a.b")
    assert threads_inside(activity) == []
    assert drained(activity, 0) is True

    stay(activity)
    assert LEAVING not in activity
    activity[object()] = threading.get_ident()
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
    activity[object()] = threading.get_ident()
    assert drained(activity, 60) is False
