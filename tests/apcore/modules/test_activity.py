import threading
import time

import pytest

from apcore.errors import ModuleNotFoundError
from apcore.modules.activity import Activity


def test_a_call_is_inside_as_long_as_its_block():
    activity, call = Activity(), object()
    with activity.inside(call, "a.b"):
        assert activity.calls == {call: threading.get_ident()}
    assert activity.calls == {}


def test_nobody_enters_a_module_that_leaves():
    activity = Activity()
    activity.is_leaving = True
    with pytest.raises(ModuleNotFoundError, match=r"a\.b"), activity.inside(object(), "a.b"):
        raise AssertionError("inside")
    assert activity.calls == {}


def test_waiting_ends_with_the_last_call_or_with_the_time():
    activity, call = Activity(), object()
    assert activity.drained(0) is True

    activity.calls[call] = -1
    before = time.monotonic()
    assert activity.drained(0.05) is False
    assert 0.05 <= time.monotonic() - before < 2

    threading.Timer(0.05, activity.calls.clear).start()
    assert activity.drained(10) is True


def test_the_calls_of_the_waiting_thread_are_not_waited_for():
    activity = Activity()
    with activity.inside(object(), "a.b"):
        assert activity.drained(60) is False
