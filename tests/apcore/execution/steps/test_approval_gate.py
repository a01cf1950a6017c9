from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from apcore.acl import ACL, ACLRule
from apcore.approval import (
    AlwaysDenyHandler,
    ApprovalRequest,
    ApprovalResult,
    AutoApproveHandler,
    CallbackApprovalHandler,
)
from apcore.context import Context
from apcore.errors import (
    ACLDeniedError,
    ApprovalDeniedError,
    ApprovalPendingError,
    ApprovalTimeoutError,
    InvalidInputError,
    ModuleError,
    ModuleExecuteError,
    SchemaValidationError,
)
from apcore.execution import RESUMED_NOTE, Executor, approval_gate
from apcore.modules import module
from apcore.modules.change import Change, PreviewResult
from apcore.modules.plan import Plan
from apcore.pipeline import Step
from apcore.registry import Registry

Call = Callable[..., Any]


class Desk:
    """A handler, sync on purpose, that answers as told and remembers what it was asked."""

    def __init__(self, answer: ApprovalResult, later: ApprovalResult | None = None) -> None:
        self.answer, self.later = answer, later
        self.requests: list[ApprovalRequest] = []
        self.checked: list[str] = []

    def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        self.requests.append(request)
        return self.answer

    def check_approval(self, approval_id: str) -> ApprovalResult:
        self.checked.append(approval_id)
        assert self.later is not None
        return self.later


class BoundDesk(Desk):
    def check_approval_for(self, approval_id: str, request: ApprovalRequest) -> ApprovalResult:
        self.requests.append(request)
        return self.check_approval(approval_id)


APPROVED = ApprovalResult("approved", approved_by="ada")
PENDING = ApprovalResult("pending", approval_id="42", metadata={"status_url": "/a/42"})


@pytest.fixture
def registry(registry: Registry) -> Registry:
    @module(id="pay.out", annotations={"requires_approval": True}, description="Pay", tags=["money"])
    def pay(cents: int) -> dict[str, Any]:
        return {"paid": cents}

    registry.register("pay.out", pay)
    return registry


@pytest.mark.req("R-7.4-11")
def test_without_a_handler_the_gate_is_skipped(call: Call, registry: Registry) -> None:
    assert call(Executor(registry), "pay.out", {"cents": 5}) == {"paid": 5}


@pytest.mark.req("R-7.4-12")
def test_modules_that_need_no_approval_skip_the_gate(call: Call, registry: Registry) -> None:
    desk = Desk(ApprovalResult("rejected"))
    assert call(Executor(registry, approval_handler=desk), "math.add", {"a": 1, "b": 1}) == {"sum": 2}
    assert desk.requests == []


@pytest.mark.req("R-7.4-14", "R-7.4-15", "R-7.4-24")
@pytest.mark.parametrize(
    ("result", "error"),
    [
        (ApprovalResult("rejected", reason="no"), ApprovalDeniedError),
        (ApprovalResult("timeout"), ApprovalTimeoutError),
        (PENDING, ApprovalPendingError),
        (APPROVED, None),
    ],
)
def test_each_answer(call: Call, registry: Registry, result: ApprovalResult, error: type[Exception] | None) -> None:
    desk = Desk(result)
    executor = Executor(registry, approval_handler=desk)
    if error is None:
        assert call(executor, "pay.out", {"cents": 5}) == {"paid": 5}
    else:
        with pytest.raises(error) as caught:
            call(executor, "pay.out", {"cents": 5})
        assert caught.value.result is result  # type: ignore[attr-defined]  # every approval error has it
    (request,) = desk.requests
    assert (request.module_id, request.arguments, request.description) == ("pay.out", {"cents": 5}, "Pay")
    assert request.annotations.requires_approval
    assert request.tags == ["money"]
    assert request.context.call_chain == ["pay.out"]


def test_a_pending_error_says_where_to_look(call: Call, registry: Registry) -> None:
    with pytest.raises(ApprovalPendingError) as caught:
        call(Executor(registry, approval_handler=Desk(PENDING)), "pay.out", {"cents": 5})
    assert caught.value.http_status == 202
    assert caught.value.details["approval_id"] == "42"
    assert caught.value.details["status_url"] == "/a/42"


@pytest.mark.req("R-7.4-25")
@pytest.mark.parametrize(
    "answer", [None, True, "approved", SimpleNamespace(status="ok"), SimpleNamespace(status="approved")]
)
def test_an_answer_that_is_none_denies(call: Call, registry: Registry, answer: Any) -> None:
    with pytest.raises(ApprovalDeniedError):
        call(Executor(registry, approval_handler=Desk(answer)), "pay.out", {"cents": 5})


def test_a_handler_that_fails_denies(call: Call, registry: Registry) -> None:
    def fail(request: ApprovalRequest) -> ApprovalResult:
        raise ConnectionError("token=hunter2")

    with pytest.raises(ApprovalDeniedError) as caught:
        call(Executor(registry, approval_handler=CallbackApprovalHandler(fail)), "pay.out", {"cents": 5})
    assert "hunter2" not in str(caught.value.to_dict())


@pytest.mark.req("R-7.4-25")
@pytest.mark.parametrize("inputs", [{"cents": 5}, {"cents": 5, "_approval_token": "42"}])
@pytest.mark.parametrize(
    "error", [SystemExit(1), asyncio.CancelledError(), StopIteration(), TimeoutError(), ModuleExecuteError("hunter2")]
)
def test_whatever_a_handler_fails_with_is_a_denial(
    call: Call, registry: Registry, error: BaseException, inputs: dict[str, Any]
) -> None:
    class Fails:
        def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
            raise error

        async def check_approval(self, approval_id: str) -> ApprovalResult:
            raise error

    with pytest.raises(ApprovalDeniedError, match="handler failed") as caught:
        call(Executor(registry, approval_handler=Fails()), "pay.out", inputs)
    assert "hunter2" not in caught.value.message


def test_what_a_handler_adds_does_not_take_the_place_of_what_the_error_says_itself(
    call: Call, registry: Registry
) -> None:
    metadata = {"approval_id": "other", "reason": "other", "step": "other", "status_url": "/a/42"}
    result = ApprovalResult("pending", approval_id="42", reason="later", metadata=metadata)
    with pytest.raises(ApprovalPendingError) as caught:
        call(Executor(registry, approval_handler=Desk(result)), "pay.out", {"cents": 5})
    assert caught.value.details == {
        "approval_id": "42",
        "reason": "later",
        "step": "approval_gate",
        "status_url": "/a/42",
    }


def test_a_human_is_never_shown_inputs_that_would_be_refused(call: Call, registry: Registry) -> None:
    desk = Desk(APPROVED)
    with pytest.raises(SchemaValidationError) as refused:
        call(Executor(registry, approval_handler=desk), "pay.out", {"cents": "abc"})
    assert desk.requests == []
    assert refused.value.details["step"] == "input_validation"


@pytest.mark.req("R-7.6-01", "R-7.6-02", "R-7.6-03")
def test_the_built_in_handlers(call: Call, registry: Registry) -> None:
    async def only_small(request: ApprovalRequest) -> ApprovalResult:
        await asyncio.sleep(0)
        return APPROVED if request.arguments["cents"] < 100 else ApprovalResult("rejected", reason="too much")

    assert call(Executor(registry, approval_handler=AutoApproveHandler()), "pay.out", {"cents": 5}) == {"paid": 5}
    with pytest.raises(ApprovalDeniedError):
        call(Executor(registry, approval_handler=AlwaysDenyHandler()), "pay.out", {"cents": 5})
    handler = CallbackApprovalHandler(only_small)
    assert call(Executor(registry, approval_handler=handler), "pay.out", {"cents": 5}) == {"paid": 5}
    with pytest.raises(ApprovalDeniedError, match="too much"):
        call(Executor(registry, approval_handler=handler), "pay.out", {"cents": 500})


@pytest.mark.req("R-7.4-13", "R-7.4-16", "R-7.4-18", "R-7.4-19", "R-7.4-22")
def test_a_token_is_checked_instead_of_asking_and_goes_no_further(call: Call, registry: Registry) -> None:
    desk = Desk(PENDING, later=APPROVED)
    executor = Executor(registry, approval_handler=desk)
    seen: list[Any] = []

    class Look:
        def before(self, module_id: str, inputs: Any, context: Context) -> None:
            seen.append((dict(inputs), context.data.get(RESUMED_NOTE)))

    executor.use(Look())
    inputs = {"cents": 5, "_approval_token": "42"}
    assert call(executor, "pay.out", inputs) == {"paid": 5}
    assert desk.checked == ["42"]
    assert desk.requests == []
    assert seen == [({"cents": 5}, "42")]
    assert inputs == {"cents": 5, "_approval_token": "42"}


@pytest.mark.req("R-7.4-17")
def test_a_token_is_taken_out_even_where_nobody_asks(call: Call, registry: Registry) -> None:
    assert call(Executor(registry), "pay.out", {"cents": 5, "_approval_token": "42"}) == {"paid": 5}
    assert call(Executor(registry), "math.add", {"a": 1, "b": 1, "_approval_token": "42"}) == {"sum": 2}


def test_a_handler_that_binds_tokens_is_told_the_call(call: Call, registry: Registry) -> None:
    desk = BoundDesk(PENDING, later=APPROVED)
    call(Executor(registry, approval_handler=desk), "pay.out", {"cents": 7, "_approval_token": "42"})
    assert desk.requests[0].arguments == {"cents": 7}


@pytest.mark.req("R-7.4-23")
def test_access_is_checked_again_on_the_retry(call: Call, registry: Registry) -> None:
    acl = ACL([ACLRule(["*"], ["*"], "allow")])
    executor = Executor(registry, acl=acl, approval_handler=Desk(PENDING, later=APPROVED))
    with pytest.raises(ApprovalPendingError):
        call(executor, "pay.out", {"cents": 5})
    acl.replace([], "deny")
    with pytest.raises(ACLDeniedError):
        call(executor, "pay.out", {"cents": 5, "_approval_token": "42"})


@pytest.mark.req("RW-10", "R-7.4-16")
@pytest.mark.parametrize("how", ["returned", "in place"])
def test_a_middleware_cannot_change_what_was_approved(call: Call, registry: Registry, how: str) -> None:
    class Sneaky:
        def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> Any:
            if how == "returned":
                return {"cents": 999_999}
            inputs["cents"] = 999_999
            return None

    executor = Executor(registry, approval_handler=Desk(APPROVED), middlewares=[Sneaky()])
    if how == "returned":
        with pytest.raises(ApprovalDeniedError, match="middleware"):
            call(executor, "pay.out", {"cents": 5})
    else:
        with pytest.raises(ApprovalDeniedError, match="middleware"):
            call(executor, "pay.out", {"cents": 5})


class Claims:
    """A module that previews what it will do by its own word."""

    description = "Claims"
    annotations = {"requires_approval": True}
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] = {}

    def __init__(self) -> None:
        self.target = "users.1"
        self.ran = 0

    def preview(self, inputs: dict[str, Any], context: Context) -> PreviewResult:
        return PreviewResult([Change("delete", self.target, "Delete a user")])

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        self.ran += 1
        return {}


class Plans:
    """A module that plans; the plan is what is applied."""

    description = "Plans"
    annotations = {"requires_approval": True}
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] = {}

    def __init__(self) -> None:
        self.target = "users.1"
        self.ran = 0

    def plan(self, inputs: dict[str, Any], context: Context) -> Plan:
        return Plan([Change("delete", self.target, "Delete a user")], data=self.target)

    def apply(self, plan: Plan, context: Context) -> dict[str, Any]:
        self.ran += 1
        return {}


@pytest.mark.req("DR-09", "DR-10", "DR-11")
@pytest.mark.parametrize("kind", [Claims, Plans])
def test_what_was_shown_is_what_happens_or_nothing_does(call: Call, kind: type[Claims | Plans]) -> None:
    registry = Registry()
    instance = kind()
    registry.register("users.erase", instance)
    shown: list[str] = []

    def approve_and_change(request: ApprovalRequest) -> ApprovalResult:
        assert request.effect is not None
        shown.append(request.effect.changes[0].target)
        instance.target = next_target
        return APPROVED

    executor = Executor(registry, approval_handler=CallbackApprovalHandler(approve_and_change))
    next_target = "users.1"
    assert call(executor, "users.erase") == {}
    assert instance.ran == 1
    next_target = "users.2"
    with pytest.raises(ApprovalDeniedError, match="not the approved one"):
        call(executor, "users.erase")
    assert instance.ran == 1
    assert shown == ["users.1", "users.1"]


def test_an_error_found_while_measuring_goes_to_the_caller_and_nobody_is_asked(call: Call) -> None:
    class Fails(Claims):
        def preview(self, inputs: dict[str, Any], context: Context) -> PreviewResult:
            raise LookupError("no such user")

    registry = Registry()
    registry.register("users.erase", Fails())
    desk = Desk(APPROVED)
    with pytest.raises(ModuleExecuteError) as caught:
        call(Executor(registry, approval_handler=desk), "users.erase")
    assert desk.requests == []
    assert caught.value.details == {"type": "LookupError", "step": "execute"}


class Sorter:
    """A module that works on its inputs in place, in its preview as well."""

    description = "Sorts a list"
    annotations = {"requires_approval": True}
    input_schema = {"type": "object", "properties": {"numbers": {"type": "array"}}, "required": ["numbers"]}
    output_schema: dict[str, Any] = {}

    def preview(self, inputs: dict[str, Any], context: Context) -> PreviewResult:
        inputs["numbers"].sort()
        return PreviewResult([Change("update", "list", f"sort {len(inputs['numbers'])} numbers")])

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {"given": list(inputs["numbers"])}


def sorter(handler: Any, module: type[Sorter] = Sorter) -> Executor:
    registry = Registry()
    registry.register("list.sort", module())
    return Executor(registry, approval_handler=handler)


def test_a_preview_that_changes_its_inputs_changes_neither_what_is_signed_nor_what_runs(call: Call) -> None:
    desk = Desk(APPROVED)
    executor = sorter(desk)
    assert call(executor, "list.sort", {"numbers": [3, 1, 2]}) == {"given": [3, 1, 2]}
    assert desk.requests[0].arguments == {"numbers": [3, 1, 2]}


def test_neither_the_handler_nor_the_caller_can_change_what_was_signed(call: Call) -> None:
    mine = {"numbers": [1]}

    def tamper(request: ApprovalRequest) -> ApprovalResult:
        request.arguments["numbers"].append("by the handler")
        mine["numbers"].append(2)
        return APPROVED

    assert call(sorter(CallbackApprovalHandler(tamper)), "list.sort", mine) == {"given": [1]}


def test_a_step_after_the_gate_cannot_change_what_was_signed(call: Call) -> None:
    executor = sorter(Desk(APPROVED))
    executor.insert_step(Step("late", lambda state: state.inputs["numbers"].append(9)), after="approval_gate")
    assert call(executor, "list.sort", {"numbers": [1]}) == {"given": [1]}


@pytest.mark.parametrize("value", [Decimal("1.5"), date(2026, 1, 1), b"bytes", float("nan"), object(), {1, 2}])
def test_what_nobody_can_be_shown_is_refused_before_anybody_is_asked(call: Call, value: Any) -> None:
    desk = Desk(APPROVED)
    executor = sorter(desk)
    with pytest.raises(InvalidInputError, match="JSON"):
        call(executor, "list.sort", {"numbers": [value]})
    assert desk.requests == []
    assert not executor.validate("list.sort", {"numbers": [value]}).valid


class WithoutPreview(Sorter):
    preview = None  # type: ignore[assignment]  # without one


class Transactional(WithoutPreview):
    effect = "transactional"


@pytest.mark.req("DR-10")
@pytest.mark.parametrize("kind", [Sorter, WithoutPreview, Transactional])
def test_an_approval_of_another_effect_never_runs_a_module_of_any_kind(call: Call, kind: type[Sorter]) -> None:
    executor = sorter(Desk(replace(APPROVED, metadata={"effect_digest": "0" * 64})), module=kind)
    with pytest.raises(ApprovalDeniedError, match="not the approved one"):
        call(executor, "list.sort", {"numbers": [1]})


def test_a_request_does_not_print_its_arguments() -> None:
    desk = Desk(APPROVED)
    sorter(desk).call("list.sort", {"numbers": ["hunter2"]})
    assert "hunter2" not in repr(desk.requests[0])


# The algorithm by itself

ALONE = Context.create(call_chain=["list.sort"])


def test_the_gate_alone_asks_and_gives_back_the_arguments_without_the_token() -> None:
    desk = Desk(APPROVED, APPROVED)
    arguments = {"numbers": [2, 1], "_approval_token": "a-1"}
    assert approval_gate(Sorter(), arguments, ALONE, desk) == {"numbers": [2, 1]}
    assert arguments == {"numbers": [2, 1], "_approval_token": "a-1"}
    assert (desk.requests, desk.checked) == ([], ["a-1"])

    assert approval_gate(Sorter(), {"numbers": [2, 1]}, ALONE, desk) == {"numbers": [2, 1]}
    asked = desk.requests[0]
    assert (asked.module_id, asked.arguments, asked.context) == ("list.sort", {"numbers": [2, 1]}, ALONE)


@pytest.mark.parametrize("handler", [AutoApproveHandler(), CallbackApprovalHandler(lambda request: APPROVED)])
def test_the_gate_alone_takes_async_handlers_also_inside_a_loop(handler: Any) -> None:
    async def inside() -> Any:
        return approval_gate(Sorter(), {"numbers": []}, ALONE, handler)

    assert approval_gate(Sorter(), {"numbers": []}, ALONE, handler) == asyncio.run(inside()) == {"numbers": []}


@pytest.mark.parametrize(
    ("status", "error"),
    [("rejected", ApprovalDeniedError), ("timeout", ApprovalTimeoutError), ("pending", ApprovalPendingError)],
)
def test_the_gate_alone_raises_what_the_answer_says(status: Any, error: type[ModuleError]) -> None:
    answer = ApprovalResult(status, approval_id="a-2", reason="because")
    with pytest.raises(error) as caught:
        approval_gate(Sorter(), {"numbers": []}, ALONE, Desk(answer))
    assert caught.value.result == answer  # type: ignore[attr-defined]  # every approval error has it


@pytest.mark.parametrize("answer", [None, "approved", ValueError("broken")])
def test_the_gate_alone_fails_closed(answer: Any) -> None:
    def respond(request: ApprovalRequest) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(ApprovalDeniedError):
        approval_gate(Sorter(), {"numbers": []}, ALONE, CallbackApprovalHandler(respond))


class Unasked:
    annotations = None


@pytest.mark.parametrize(
    ("module", "handler"), [(Sorter(), None), (Unasked(), Desk(APPROVED)), (object(), Desk(APPROVED))]
)
def test_the_gate_alone_lets_pass_what_needs_no_signature(module: Any, handler: Any) -> None:
    assert approval_gate(module, {"a": 1, "_approval_token": "x"}, ALONE, handler) == {"a": 1}
    assert handler is None or (handler.requests, handler.checked) == ([], [])


def test_the_gate_alone_gives_back_what_was_shown_whatever_becomes_of_the_arguments() -> None:
    arguments = {"numbers": [2, 1]}

    def respond(request: ApprovalRequest) -> ApprovalResult:
        arguments["numbers"].append(3)
        return APPROVED

    signed = approval_gate(Sorter(), arguments, ALONE, CallbackApprovalHandler(respond))
    assert (signed, arguments) == ({"numbers": [2, 1]}, {"numbers": [2, 1, 3]})


class Unreadable:
    @property
    def annotations(self) -> Any:
        raise AttributeError("no settings yet")


def test_the_gate_alone_lets_nothing_pass_of_which_it_cannot_tell_what_it_needs() -> None:
    with pytest.raises(InvalidInputError, match="needs a signature cannot be read"):
        approval_gate(Unreadable(), {}, ALONE, Desk(APPROVED))


@pytest.mark.parametrize("arguments", ["text", [1], {"numbers": object()}, {"_approval_token": 7}])
def test_the_gate_alone_refuses_arguments_that_nobody_can_be_shown(arguments: Any) -> None:
    with pytest.raises(InvalidInputError):
        approval_gate(Sorter(), arguments, ALONE, Desk(APPROVED))


def test_the_gate_alone_needs_a_context() -> None:
    with pytest.raises(InvalidInputError, match="context must be a Context, not NoneType"):
        approval_gate(Sorter(), {}, None, Desk(APPROVED))  # type: ignore[arg-type]  # what is wrong here
