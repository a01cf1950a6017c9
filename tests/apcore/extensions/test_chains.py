from __future__ import annotations

import asyncio
from typing import Any

import pytest

from apcore.approval import ApprovalRequest, ApprovalResult
from apcore.context import Context
from apcore.errors import InternalError
from apcore.extensions.chains import ChainedACL, ChainedApprovalHandler, ChainedDiscoverer
from apcore.modules import ModuleAnnotations


class Finds:
    def __init__(self, *found: str, error: Exception | None = None) -> None:
        self.found, self.error, self.asked = found, error, 0

    def discover(self, config: Any) -> list[tuple[str, Any]]:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return [(name, object()) for name in self.found]


def ids(chain: ChainedDiscoverer) -> list[str]:
    return [each[0] for each in chain.discover(None) if isinstance(each, tuple)]


@pytest.mark.req("R-11.7-02")
def test_the_first_success_of_discoverers_ends_the_search() -> None:
    empty, first, second = Finds(), Finds("a.one"), Finds("b.two")
    assert ids(ChainedDiscoverer([empty, first, second], "first_success")) == ["a.one"]
    assert (empty.asked, first.asked, second.asked) == (1, 1, 0)
    assert ids(ChainedDiscoverer([Finds(error=OSError("down")), second], "first_success")) == ["b.two"]


@pytest.mark.req("R-11.7-03")
def test_all_discoverers_are_merged_and_an_error_of_one_is_an_error() -> None:
    assert ids(ChainedDiscoverer([Finds("a.one"), Finds("b.two", "c.three")], "all")) == ["a.one", "b.two", "c.three"]
    with pytest.raises(OSError, match="down"):
        ids(ChainedDiscoverer([Finds("a.one"), Finds(error=OSError("down"))], "all"))


@pytest.mark.req("R-11.7-04")
def test_the_next_discoverer_is_the_fallback_of_one_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    second = Finds("b.two")
    assert ids(ChainedDiscoverer([Finds(error=OSError("hunter2")), second], "fallback")) == ["b.two"]
    assert "OSError" in caplog.text
    assert "hunter2" not in caplog.text
    assert ids(ChainedDiscoverer([Finds(), second], "fallback")) == []
    with pytest.raises(OSError, match="one") as caught:
        ids(ChainedDiscoverer([Finds(error=OSError("one")), Finds(error=ValueError("two"))], "fallback"))
    assert caught.value.__notes__ == ["Another discoverer failed: ValueError"]


class Says:
    def __init__(self, answer: Any) -> None:
        self.answer, self.asked = answer, 0

    def check(self, caller_id: str | None, target_id: str, context: Context) -> Any:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class SaysLater(Says):
    async def check(self, caller_id: str | None, target_id: str, context: Context) -> Any:
        return super().check(caller_id, target_id, context)


def decision(strategy: str, *checkers: Says) -> bool:
    return asyncio.run(ChainedACL(checkers, strategy).check(None, "a.b", Context.create()))


@pytest.mark.req("R-11.7-02")
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ((True, False), True),
        ((False, True), False),
        ((None, True), True),
        ((None, None), False),
        (("yes", True), False),
    ],
)
def test_the_first_access_list_with_an_opinion_decides(answers: tuple[Any, ...], expected: bool) -> None:
    assert decision("first_success", *map(Says, answers)) is expected
    assert decision("first_success", *map(SaysLater, answers)) is expected


def test_an_access_list_that_fails_denies_unless_the_next_one_is_its_fallback() -> None:
    second = Says(True)
    with pytest.raises(OSError, match="down"):
        decision("first_success", Says(OSError("down")), second)
    assert second.asked == 0
    assert decision("fallback", Says(OSError("down")), second) is True
    with pytest.raises(OSError, match="down"):
        decision("fallback", Says(OSError("down")), Says(ValueError("too")))


@pytest.mark.req("R-11.7-03")
@pytest.mark.parametrize(
    ("answers", "expected"), [((True, True), True), ((True, False), False), ((None, True), False), ((1, True), False)]
)
def test_all_access_lists_have_to_allow(answers: tuple[Any, ...], expected: bool) -> None:
    assert decision("all", *map(Says, answers)) is expected


class Approves:
    def __init__(self, name: str, *, supports: bool = True, error: Exception | None = None) -> None:
        self.name, self.does, self.error = name, supports, error

    def supports(self, request: ApprovalRequest) -> bool:
        return self.does

    def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        if self.error is not None:
            raise self.error
        return ApprovalResult("approved", approved_by=self.name)

    async def check_approval(self, approval_id: str) -> ApprovalResult:
        return self.request_approval(request())


class Bound(Approves):
    def check_approval_for(self, approval_id: str, request: ApprovalRequest) -> ApprovalResult:
        return ApprovalResult("approved", approved_by=f"{self.name} for {request.module_id}")


def request() -> ApprovalRequest:
    return ApprovalRequest("a.b", {}, Context.create(), ModuleAnnotations(), "d")


def asked(strategy: str, *handlers: Approves) -> str | None:
    return asyncio.run(ChainedApprovalHandler(handlers, strategy).request_approval(request())).approved_by


def test_the_first_handler_that_is_for_such_requests_is_asked() -> None:
    assert asked("first_success", Approves("one", supports=False), Approves("two"), Approves("three")) == "two"
    with pytest.raises(InternalError, match="has an answer"):
        asked("first_success", Approves("one", supports=False))


@pytest.mark.req("R-11.7-04")
def test_a_handler_that_fails_denies_unless_it_has_a_fallback() -> None:
    broken = Approves("one", error=OSError("down"))
    with pytest.raises(OSError, match="down"):
        asked("first_success", broken, Approves("two"))
    assert asked("fallback", broken, Approves("two")) == "two"


def test_tokens_are_checked_by_those_who_are_asked_about_the_call() -> None:
    chain = ChainedApprovalHandler([Bound("one", supports=False), Bound("two"), Approves("three")], "first_success")
    assert asyncio.run(chain.check_approval_for("token", request())).approved_by == "two for a.b"
    assert asyncio.run(chain.check_approval("token")).approved_by == "one"
    plain = ChainedApprovalHandler([Approves("one")], "first_success")
    assert asyncio.run(plain.check_approval_for("token", request())).approved_by == "one"
