import pytest

from apcore import ApprovalResult, Config, module
from apcore.config import REGISTRY
from apcore.errors import ApprovalDeniedError, ApprovalPendingError
from apcore.testing import ScriptedApprovalHandler, app_with, context_as, isolated_namespaces


@module(id="users.erase", annotations={"requires_approval": True})
def erase(user_id: int) -> dict:  # type: ignore[type-arg]  # as people write it
    """Erase a user"""
    return {"erased": user_id}


def test_a_script_answers_in_order_and_keeps_the_questions() -> None:
    desk = ScriptedApprovalHandler(ApprovalResult("pending", approval_id="7"), ApprovalResult("approved"))
    app = app_with(erase, approval_handler=desk)
    with pytest.raises(ApprovalPendingError):
        app.executor.call("users.erase", {"user_id": 1}, context_as("ada", roles=["clerk"]))
    assert app.executor.call("users.erase", {"user_id": 1, "_approval_token": "7"}) == {"erased": 1}
    assert desk.checked == ["7"]
    assert desk.requests[0].context.identity is not None
    assert desk.requests[0].context.identity.roles == ("clerk",)


def test_a_script_that_is_over_lets_nothing_through() -> None:
    app = app_with(("users.erase", erase), approval_handler=ScriptedApprovalHandler(ApprovalResult("rejected")))
    with pytest.raises(ApprovalDeniedError):
        app.executor.call("users.erase", {"user_id": 1})
    with pytest.raises(Exception, match="no answer left"):
        app.executor.call("users.erase", {"user_id": 1})


def test_namespaces_of_a_test_end_with_it() -> None:
    before = REGISTRY.snapshot()
    with isolated_namespaces(empty=False):
        Config.register_namespace("outside")
        with isolated_namespaces():
            Config.register_namespace("inside")
            assert set(REGISTRY.namespaces) == {"apcore", "observability", "sys_modules", "inside"}
        assert set(REGISTRY.namespaces) == {*before[0], "outside"}
    assert REGISTRY.snapshot() == before
