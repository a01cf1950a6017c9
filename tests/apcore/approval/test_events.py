"""What subscribers hear of the approval gate (§7.9)."""

import asyncio

import pytest

from apcore import AutoApproveHandler, CallbackApprovalHandler, Context, EventEmitter, Executor, Identity, Registry
from apcore import module as apcore_module
from apcore.approval import AlwaysDenyHandler, ApprovalResult
from apcore.errors import ApprovalDeniedError, ApprovalPendingError, ApprovalTimeoutError
from apcore.execution import Rewrite

CONTEXT = {"identity": Identity("ada", "user"), "caller_id": "shop.front"}


@apcore_module(id="pay.out", annotations={"requires_approval": True}, description="Pay")
def pay(cents: int, password: str = "") -> dict:  # type: ignore[type-arg]  # as people write it
    return {"paid": cents}


@apcore_module(id="pay.look", description="Look")
def look() -> dict:  # type: ignore[type-arg]  # as people write it
    return {"seen": True}


class Desk:
    def __init__(self, *answers):
        self.answers = list(answers)

    def request_approval(self, request):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def check_approval(self, approval_id):
        return self.request_approval(None)


@pytest.fixture
def events():
    return EventEmitter()


@pytest.fixture
def heard(events):
    heard = []
    events.subscribe(heard.append, types=["apcore.approval.*"])
    return heard


@pytest.fixture(params=["sync", "async", "stream"])
def call(request, events):
    """Call one module through each of the three ways in."""

    def make(handler, module_id="pay.out", inputs=None, context=None, rewriter=None):
        registry = Registry()
        registry.register("pay.out", pay)
        registry.register("pay.look", look)
        executor = Executor(registry, approval_handler=handler, events=events)
        if rewriter is not None:
            executor.add_rewriter(rewriter)
        inputs = {"cents": 5} if inputs is None else inputs
        if request.param == "sync":
            return executor.call(module_id, inputs, context)
        if request.param == "async":
            return asyncio.run(executor.call_async(module_id, inputs, context))
        return list(executor.stream_sync(module_id, inputs, context))[-1]

    return make


def names(heard):
    return [event.type.rpartition(".")[2] for event in heard]


@pytest.mark.req("R-7.9-02")
def test_request_and_decision_are_heard(call, heard):
    context = Context.create(**CONTEXT)
    assert call(AutoApproveHandler(), context=context) == {"paid": 5}
    requested, granted = heard
    assert dict(requested.data) == {
        "module_id": "pay.out",
        "approval_id": None,
        "caller_id": "shop.front",
        "requested_by": "ada",
    }
    assert dict(granted.data) == {"module_id": "pay.out", "approval_id": None, "decided_by": "auto_approve"}
    assert [event.type for event in heard] == ["apcore.approval.requested", "apcore.approval.granted"]
    assert {event.trace_id for event in heard} == {context.trace_id}


@pytest.mark.req("R-7.9-02")
@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (ApprovalResult("rejected", approved_by="eve"), ApprovalDeniedError, "denied"),
        (ApprovalResult("timeout"), ApprovalTimeoutError, "timeout"),
        (ApprovalResult("pending", approval_id="42"), ApprovalPendingError, "pending"),
    ],
)
def test_every_other_answer_is_heard_too(call, heard, answer, error, said):
    with pytest.raises(error):
        call(CallbackApprovalHandler(lambda request: answer))
    assert names(heard) == ["requested", said]
    assert heard[1].data["approval_id"] == answer.approval_id
    assert heard[1].data.get("decided_by") == answer.approved_by


def test_a_decision_that_comes_later_is_heard_when_the_call_comes_back(call, heard):
    pending = ApprovalResult("pending", approval_id="42")
    desk = Desk(pending, pending, ApprovalResult("approved", approved_by="ada", approval_id="42"))
    for inputs in ({"cents": 5}, {"cents": 5, "_approval_token": "42"}):
        with pytest.raises(ApprovalPendingError):
            call(desk, inputs=inputs)
    call(desk, inputs={"cents": 5, "_approval_token": "42"})
    assert names(heard) == ["requested", "pending", "pending", "granted"]


@pytest.mark.parametrize("answer", [RuntimeError("db password hunter22"), "yes", None])
def test_no_answer_is_a_denial_that_is_heard(call, heard, answer):
    with pytest.raises(ApprovalDeniedError):
        call(Desk(answer))
    assert names(heard) == ["requested", "denied"]
    assert "hunter22" not in str([event.to_dict() for event in heard])


def test_a_call_that_asks_for_an_approval_that_nobody_can_give_is_denied(call, heard):
    with pytest.raises(ApprovalDeniedError):
        call(None, "pay.look", {}, rewriter=lambda *_: Rewrite.ask("too much"))
    assert names(heard) == ["denied"]


def test_calls_that_need_no_approval_say_nothing(call, heard):
    call(AutoApproveHandler(), "pay.look", {})
    call(None)
    assert heard == []


def test_inputs_are_not_in_any_event(call, heard):
    call(AutoApproveHandler(), inputs={"cents": 5, "password": "hunter22"})
    assert "hunter22" not in str([event.to_dict() for event in heard])


def test_a_handler_that_tells_itself_is_not_repeated(call, heard):
    class Teller(Desk):
        emits_events = True

    call(Teller(ApprovalResult("approved")))
    with pytest.raises(ApprovalDeniedError):
        call(Teller(ApprovalResult("rejected")))
    assert heard == []


def test_but_if_it_gives_no_answer_the_denial_is_heard(call, heard):
    class Teller(Desk):
        emits_events = True

    with pytest.raises(ApprovalDeniedError):
        call(Teller(RuntimeError()))
    assert names(heard) == ["denied"]


@pytest.mark.req("R-7.4-10")
def test_a_failing_subscriber_neither_denies_nor_grants(call, events):
    def fail(event):
        raise RuntimeError

    events.subscribe(fail)
    assert call(AutoApproveHandler()) == {"paid": 5}
    with pytest.raises(ApprovalDeniedError):
        call(AlwaysDenyHandler())


def test_coroutines_hear_in_both_drivers(call, events):
    heard = []

    async def listen(event):
        await asyncio.sleep(0)
        heard.append(event)

    events.subscribe(listen)
    call(AutoApproveHandler())
    assert names(heard) == ["requested", "granted"]


def test_a_subscriber_with_blocking_code_stays_out_of_the_loop(call, events):
    places = []

    def listen(event):
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            places.append("no loop")

    events.subscribe(listen)
    call(AutoApproveHandler())
    assert places == ["no loop", "no loop"]
