import pytest

from apcore.acl import caller_is_listed
from apcore.context import Context, Identity


@pytest.mark.req("R-5.2-09")
@pytest.mark.parametrize(
    ("patterns", "caller_id", "listed"),
    [
        (["api.*"], "api.orders", True),
        (["api.*"], "web.orders", False),
        (["api.orders"], "api.orders", True),
        (["api.orders"], "api.orders.create", False),
        (["api.*"], None, False),
        (["@external"], None, True),
        (["*"], None, True),
        ([], "api.orders", False),
    ],
)
def test_a_caller_outside_the_list_is_not_accepted(patterns, caller_id, listed):
    assert caller_is_listed(patterns, caller_id, None) is listed


def test_the_system_is_told_by_its_identity():
    system, user = (Context.create(identity=Identity("x", kind)) for kind in ("system", "user"))
    assert caller_is_listed(["@system"], "a.b", system)
    assert not caller_is_listed(["@system"], "a.b", user)
    assert not caller_is_listed(["@system"], "a.b", Context.create())
