from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from apcore.approval import ApprovalRequest, ApprovalResult, CallbackApprovalHandler
from apcore.context import Context
from apcore.errors import ACLDeniedError, ApprovalDeniedError, InternalError, SchemaValidationError
from apcore.execution import REWRITE_NOTE, Executor, Rewrite
from tests.apcore.execution.conftest import Recorder

Call = Callable[..., Any]


def trim(module_id: str, inputs: dict[str, Any], context: Context) -> Rewrite | None:
    return Rewrite.to({**inputs, "text": inputs["text"].strip()}, "trimmed")


@pytest.mark.req("RW-01", "RW-08")
def test_everybody_after_the_rewrite_sees_the_new_inputs_and_the_caller_is_told(
    call: Call, executor: Executor, recorder: Recorder
) -> None:
    executor.add_rewriter(trim)
    context = Context.create()
    mine = {"text": " a "}
    assert call(executor, "text.record", mine, context) == {"text": "a"}
    assert recorder.calls == [{"text": "a", "times": 1}]
    assert recorder.contexts[0].redacted_inputs == recorder.calls[0]
    assert mine == {"text": " a "}
    (note,) = context.data[REWRITE_NOTE]
    assert note == {"module_id": "text.record", "rewriter": "trim", "reason": "trimmed"}


@pytest.mark.req("RW-04")
def test_nothing_is_noted_when_nothing_changes(call: Call, executor: Executor) -> None:
    executor.add_rewriter(trim)
    executor.add_rewriter(lambda *_: None)
    executor.add_rewriter(lambda *_: Rewrite.allow())
    context = Context.create()
    call(executor, "text.record", {"text": "a"}, context)
    assert REWRITE_NOTE not in context.data


@pytest.mark.req("RW-07")
def test_changing_the_inputs_in_place_has_no_effect(call: Call, executor: Executor, recorder: Recorder) -> None:
    executor.add_rewriter(lambda module_id, inputs, context: inputs.clear())
    call(executor, "text.record", {"text": "a"})
    assert recorder.calls == [{"text": "a", "times": 1}]


def test_a_rewriter_may_refuse(call: Call, executor: Executor) -> None:
    executor.add_rewriter(lambda *_: Rewrite.deny("not on Fridays"))
    with pytest.raises(ACLDeniedError, match="not on Fridays"):
        call(executor, "text.record", {"text": "a"})


@pytest.mark.req("RW-11")
def test_rewritten_inputs_are_validated(call: Call, executor: Executor) -> None:
    executor.add_rewriter(lambda *_: Rewrite.to({"text": 5}))
    with pytest.raises(SchemaValidationError):
        call(executor, "text.record", {"text": "a"})


def test_a_rewriter_that_returns_something_else_is_an_error(call: Call, executor: Executor) -> None:
    executor.add_rewriter(lambda *_: {"text": "b"})
    with pytest.raises(InternalError, match="Rewrite"):
        call(executor, "text.record", {"text": "a"})


@pytest.mark.parametrize("given", [5, "text", [("text", "b")], None])
def test_inputs_that_are_no_object_are_an_error_of_the_rewriter(call: Call, executor: Executor, given: Any) -> None:
    executor.add_rewriter(lambda *_: Rewrite.to(given))
    with pytest.raises(InternalError, match="must give inputs as an object"):
        call(executor, "text.record", {"text": "a"})


@pytest.mark.req("RW-07", "R-7.4-17")
def test_what_a_rewriter_does_with_its_inputs_later_has_no_effect_and_a_token_is_no_input(
    call: Call, registry: Any
) -> None:
    kept: dict[str, Any] = {"words": ["a"], "_approval_token": "t"}
    given: list[dict[str, Any]] = []
    executor = Executor(registry)

    class Words:
        description = "Keeps words"
        input_schema: dict[str, Any] = {}
        output_schema: dict[str, Any] = {}

        def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            given.append(inputs)
            return {}

    def later(module_id: str, inputs: dict[str, Any], context: Context) -> None:
        kept["words"].append("b")

    registry.register("text.words", Words())
    executor.add_rewriter(lambda *_: Rewrite.to(kept))
    executor.add_rewriter(later)
    call(executor, "text.words")
    assert given == [{"words": ["a"]}]


def test_a_refusal_without_a_reason_says_who_refused(call: Call, executor: Executor) -> None:
    def guard(*_: Any) -> Rewrite:
        return Rewrite.deny("")

    executor.add_rewriter(guard)
    with pytest.raises(ACLDeniedError, match="guard gives no reason"):
        call(executor, "text.record", {"text": "a"})


@pytest.mark.req("RW-03", "RW-06")
def test_a_rewriter_may_ask_and_the_approver_sees_both(call: Call, registry: Any, recorder: Recorder) -> None:
    seen: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> ApprovalResult:
        seen.append(request)
        return ApprovalResult("approved")

    executor = Executor(registry, approval_handler=CallbackApprovalHandler(approve))
    executor.add_rewriter(trim)
    executor.add_rewriter(lambda *_: Rewrite.ask("large"))
    assert call(executor, "text.record", {"text": " a "}) == {"text": "a"}
    (request,) = seen
    assert request.arguments == {"text": "a", "times": 1}
    assert request.original_arguments == {"text": " a "}
    assert recorder.calls == [request.arguments]
    assert recorder.contexts[0].redacted_inputs == request.arguments


def test_asking_where_nobody_can_answer_denies(call: Call, executor: Executor, recorder: Recorder) -> None:
    executor.add_rewriter(lambda *_: Rewrite.ask("large"))
    with pytest.raises(ApprovalDeniedError):
        call(executor, "text.record", {"text": "a"})
    assert recorder.calls == []


@pytest.mark.parametrize("verdict", ["Deny", "denied", "", None])
def test_a_verdict_that_does_not_exist_lets_nothing_pass(
    call: Call, executor: Executor, recorder: Recorder, verdict: Any
) -> None:
    executor.add_rewriter(lambda module_id, inputs, context: Rewrite(verdict, "not today"))
    with pytest.raises(InternalError, match="verdict"):
        call(executor, "text.record", {"text": "a"})
    assert recorder.calls == []
