"""Two processes decide, expire, cancel and execute at the same instant."""

from uuid import uuid4

import pytest

from tests.django_apcore.races.conftest import Arena, Racer

ROUNDS = 12


@pytest.fixture
def name() -> str:
    return f"race-{uuid4().hex[:8]}"


@pytest.mark.parametrize("number", range(ROUNDS))
def test_of_two_approvals_one_counts(arena: Arena, first: Racer, second: Racer, name: str, number: int) -> None:
    request = first.do("ask", name=name)
    heard = arena.race(
        (first, "approve", {"request": request, "user": "adam"}),
        (second, "approve", {"request": request, "user": "olga"}),
    )
    assert sorted(map(str, heard)) == ["{'answer': 'approved'}", "{'error': 'already_decided'}"]
    assert first.do("look", request=request, name=name)["decisions"] == 1


@pytest.mark.req("DR-15")
@pytest.mark.parametrize("number", range(ROUNDS))
def test_of_two_executions_one_happens(arena: Arena, first: Racer, second: Racer, name: str, number: int) -> None:
    request = first.do("ask", name=name)
    first.do("approve", request=request, user="adam")
    heard = arena.race((first, "execute", {"request": request}), (second, "execute", {"request": request}))
    assert heard == [{"answer": "consumed"}, {"answer": "consumed"}]
    found = first.do("look", request=request, name=name)
    assert (found["groups"], found["consumed"], found["same_digest"], found["audit"]) == (1, 1, True, True)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_caller_and_a_worker_execute_once_and_the_caller_gets_the_result(
    arena: Arena, first: Racer, second: Racer, name: str, number: int
) -> None:
    request = first.do("ask", name=name)
    first.do("approve", request=request, user="adam")
    heard = arena.race((first, "execute", {"request": request}), (second, "resume", {"request": request, "name": name}))
    assert heard[0] == {"answer": "consumed"}
    assert set(heard[1]["answer"]) == {"result"}
    found = first.do("look", request=request, name=name)
    assert (found["groups"], found["consumed"]) == (1, 1)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_of_two_callers_with_one_token_one_gets_the_result(
    arena: Arena, first: Racer, second: Racer, name: str, number: int
) -> None:
    request = first.do("ask", name=name)
    first.do("approve", request=request, user="adam")
    resume = {"request": request, "name": name}
    heard = arena.race((first, "resume", resume), (second, "resume", resume))
    assert sorted(next(iter(each)) for each in heard) == ["answer", "error"]
    assert {"error": "already_collected"} in heard
    assert first.do("look", request=request, name=name)["groups"] == 1


@pytest.mark.parametrize("rival", ["reject", "cancel", "expire"])
@pytest.mark.parametrize("number", range(ROUNDS // 2))
def test_an_approval_and_its_opposite_leave_one_state(
    arena: Arena, first: Racer, second: Racer, name: str, rival: str, number: int
) -> None:
    request = first.do("ask", name=name)
    arguments = {"request": request, **({"user": "olga"} if rival == "reject" else {})}
    if rival == "expire":
        first.do("overdue", request=request)
    heard = arena.race((first, "approve", {"request": request, "user": "adam"}), (second, rival, arguments))
    found = first.do("look", request=request, name=name)
    assert found["audit"]
    if rival == "expire":
        assert heard == [{"error": "expired"}, {"answer": "expired"}]
        assert (found["status"], found["decisions"]) == ("expired", 0)
    elif rival == "cancel":
        assert heard[1] == {"answer": "cancelled"}  # an approved request may still be withdrawn
        assert found["status"] == "cancelled"
    else:
        assert sorted(next(iter(each)) for each in heard) == ["answer", "error"]
        assert found["decisions"] == 1


@pytest.mark.parametrize("rival", ["cancel", "expire"])
@pytest.mark.parametrize("number", range(ROUNDS // 2))
def test_an_execution_and_a_withdrawal_agree_on_what_happened(
    arena: Arena, first: Racer, second: Racer, name: str, rival: str, number: int
) -> None:
    request = first.do("ask", name=name)
    first.do("approve", request=request, user="adam")
    arena.race((first, "execute", {"request": request}), (second, rival, {"request": request}))
    found = first.do("look", request=request, name=name)
    assert found["groups"] == (1 if found["status"] == "consumed" else 0)
    assert found["status"] in {"consumed", "cancelled"}


@pytest.mark.req("DR-10")
@pytest.mark.parametrize("number", range(ROUNDS // 2))
def test_two_workers_that_find_drift_open_one_new_request(
    arena: Arena, first: Racer, second: Racer, name: str, number: int
) -> None:
    request = first.do("ask", name=name, module_id="test.groups.create")
    first.do("approve", request=request, user="adam")
    first.do("outdate", request=request)
    arena.race((first, "execute", {"request": request}), (second, "execute", {"request": request}))
    found = first.do("look", request=request, name=name)
    assert (found["status"], found["successors"], found["groups"]) == ("superseded", 1, 0)


def test_many_writers_make_one_unbroken_trail(arena: Arena, first: Racer, second: Racer, name: str) -> None:
    heard = arena.race(
        (first, "append", {"subject": "race", "times": 40}), (second, "append", {"subject": "race", "times": 40})
    )
    assert heard == [{"answer": 40}, {"answer": 40}]
    request = first.do("ask", name=name)
    assert first.do("look", request=request, name=name)["audit"]


def test_a_trail_that_grows_meanwhile_can_be_verified(arena: Arena, first: Racer, second: Racer) -> None:
    heard = arena.race((first, "append", {"subject": "race", "times": 40}), (second, "verify", {"times": 20}))
    assert heard == [{"answer": 40}, {"answer": True}]
