import pytest

from apcore.context import CancelToken
from apcore.errors import ExecutionCancelledError


def test_a_fresh_token_lets_work_go_on() -> None:
    token = CancelToken()
    token.check()
    assert not token.is_cancelled
    assert token.reason is None


@pytest.mark.req("R-12.7.5-09")
def test_a_cancelled_token_stops_work_with_the_first_reason() -> None:
    token = CancelToken()
    token.cancel("shutting down")
    token.cancel("something else")
    with pytest.raises(ExecutionCancelledError, match="shutting down") as caught:
        token.check()
    assert caught.value.code == "EXECUTION_CANCELLED"
    assert caught.value.http_status == 499


def test_cancelling_a_parent_reaches_the_child_and_not_the_other_way_round() -> None:
    parent = CancelToken()
    child, sibling = CancelToken(parent), CancelToken(parent)
    child.cancel("its own deadline")
    assert child.is_cancelled
    assert not parent.is_cancelled
    assert not sibling.is_cancelled
    parent.cancel("all of it")
    assert sibling.reason == "all of it"
    assert child.reason == "its own deadline"
