"""What a model is answered: never an exception, always something to go on with (RFC 005)."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore import Context, Executor, Identity, Registry, module
from apcore.acl import ACL, ACLRule
from apcore.approval import AlwaysDenyHandler, ApprovalResult
from apcore.errors import ModuleError
from apcore.execution import call_for_model, call_for_model_async


class Order:
    description = "Order something"
    input_schema = {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "minimum": 1},
            "kind": {"enum": ["new", "used"]},
            "note": {"type": "string"},
            "pin": {"type": "string", "x-sensitive": True, "maxLength": 4},
            "password": {"type": "string", "maxLength": 4},
            "lines": {
                "type": "array",
                "items": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]},
            },
        },
        "required": ["count"],
        "additionalProperties": False,
    }
    output_schema = {"type": "object", "properties": {"ordered": {"type": "integer"}}}

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        self.calls.append(inputs)
        return {"ordered": inputs["count"]}


class Raising:
    description = "Raises"
    input_schema = {"type": "object"}
    output_schema = {"type": "object", "properties": {"n": {"type": "integer"}}}

    def __init__(self, problem: Any) -> None:
        self.problem = problem

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        if isinstance(self.problem, BaseException):
            raise self.problem
        return self.problem  # type: ignore[no-any-return]  # whatever the test wants


@pytest.fixture
def order() -> Order:
    return Order()


@pytest.fixture
def executor(order: Order) -> Executor:
    registry = Registry()
    registry.register("shop.order", order)
    return Executor(registry)


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Any:
    def ask(executor: Executor, *arguments: Any) -> Any:
        if request.param == "sync":
            return call_for_model(executor, *arguments)
        return asyncio.run(call_for_model_async(executor, *arguments))

    return ask


class Panic(BaseException):
    """What extensions written in Rust raise, and no ``except Exception`` catches."""


def raising(problem: Any) -> Executor:
    registry = Registry()
    registry.register("shop.fail", Raising(problem))
    return Executor(registry)


def test_a_call_that_succeeds_is_answered_with_its_output(executor: Executor, ask: Any) -> None:
    result = ask(executor, "shop.order", {"count": 2})
    assert not result.is_error
    assert result.output == {"ordered": 2}
    assert json.loads(result.text) == {"ordered": 2}
    assert result.to_dict() == {"is_error": False, "text": '{"ordered": 2}', "output": {"ordered": 2}}


def test_the_arguments_may_come_as_the_text_that_the_model_wrote(executor: Executor, ask: Any) -> None:
    assert ask(executor, "shop.order", '{"count": 3}').output == {"ordered": 3}


@pytest.mark.req("RV-01", "RV-02")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "/count: is required"),
        ({"count": "two"}, "/count: must be integer, not string"),
        ({"count": 0}, "/count: must be at least 1 (received: integer)"),
        ({"count": 1, "kind": "old"}, "/kind: must be one of new, used (received: string)"),
        ({"count": 1, "lines": [{"sku": "a"}, {"sku": 5}]}, "/lines/1/sku: must be string, not integer"),
        ({"count": 1, "lines": [{}]}, "/lines/0/sku: is required"),
        ({"count": 1, "colour": "red"}, "/colour: is not a known field"),
    ],
)
def test_each_violation_is_named_and_the_module_does_not_run(
    executor: Executor, order: Order, ask: Any, arguments: Any, said: str
) -> None:
    result = ask(executor, "shop.order", arguments)
    assert result.is_error
    assert f"- {said}" in result.text.splitlines()
    assert result.error.to_dict() == {"name": "SchemaValidationError", "code": "SCHEMA_VALIDATION_ERROR"}
    assert order.calls == []
    assert result.output is None


def test_all_violations_are_named_at_once_up_to_a_limit(executor: Executor) -> None:
    lines = [{"sku": number} for number in range(30)]
    text = call_for_model(executor, "shop.order", {"lines": lines}).text
    assert "/count: is required" in text
    assert "- and 11 more" in text


def test_values_are_not_repeated(executor: Executor) -> None:
    secrets = {"count": 1, "pin": "hunter22", "password": "hunter33", "kind": "hunter44"}
    result = call_for_model(executor, "shop.order", secrets)
    assert "/pin" in result.text
    assert "hunter" not in json.dumps(result.to_dict())


@pytest.mark.parametrize("arguments", ["{", "", "[1]", '"x"', "[" * 100_000, [1], 5, {1: 2}])
def test_what_is_no_object_is_refused_in_words(executor: Executor, order: Order, ask: Any, arguments: Any) -> None:
    result = ask(executor, "shop.order", arguments)
    assert result.is_error
    assert "argument" in result.text or "Inputs" in result.text
    assert order.calls == []


@pytest.mark.req("RV-03")
@pytest.mark.parametrize("arguments", [{"anything": [1, {"x": None}]}, {}])
def test_a_module_with_an_open_schema_gets_what_the_model_wrote(ask: Any, arguments: Any) -> None:
    order = Order()
    order.input_schema = {"type": "object"}
    order.execute = lambda inputs, context: order.calls.append(inputs) or {}  # type: ignore[method-assign,assignment]  # another one, for this test
    registry = Registry()
    registry.register("raw.tool", order)
    assert not ask(Executor(registry), "raw.tool", arguments).is_error
    assert order.calls == [arguments]


@pytest.mark.req("RV-06")
@pytest.mark.parametrize(
    ("problem", "name", "code"),
    [
        (FileNotFoundError(2, "No such file", "/secret/place"), "FileNotFoundError", "ENOENT"),
        (PermissionError(13, "Permission denied", "/secret/place"), "PermissionError", "EACCES"),
        (OSError("no number"), "OSError", "MODULE_EXECUTE_ERROR"),
        (FileNotFoundError("secret"), "FileNotFoundError", "ENOENT"),
        (PermissionError(), "PermissionError", "EACCES"),
        (ConnectionRefusedError("secret"), "ConnectionRefusedError", "ECONNREFUSED"),
        (type("Gone", (FileNotFoundError,), {})(), "Gone", "ENOENT"),
        (ValueError("secret text"), "ValueError", "MODULE_EXECUTE_ERROR"),
        (ModuleError("Sold out", code="SHOP_SOLD_OUT"), "ModuleError", "SHOP_SOLD_OUT"),
    ],
)
def test_kinds_of_failure_can_be_told_apart(ask: Any, problem: Exception, name: str, code: str) -> None:
    result = ask(raising(problem), "shop.fail", {})
    assert result.error.to_dict() == {"name": name, "code": code}
    assert code in result.text
    assert "secret" not in json.dumps(result.to_dict())


@pytest.mark.req("RV-04", "RV-05")
def test_the_complete_error_is_kept_for_the_program(ask: Any) -> None:
    problem = ValueError("inside")
    result = ask(raising(problem), "shop.fail", {})
    assert isinstance(result.cause, ModuleError)
    assert result.cause.__cause__ is problem
    assert result.cause.code == "MODULE_EXECUTE_ERROR"


@pytest.mark.req("RV-08")
@pytest.mark.parametrize(
    "problem", [Exception(), SystemExit(), SystemExit(3), ValueError(""), BaseException("x"), Panic("x")]
)
def test_an_empty_or_odd_failure_still_says_something(ask: Any, problem: BaseException) -> None:
    result = ask(raising(problem), "shop.fail", {})
    assert result.is_error
    assert result.error.name == type(problem).__name__
    assert len(result.text) > 30


def test_an_output_that_is_no_json_is_told_all_the_same(ask: Any) -> None:
    ring: dict[str, Any] = {"n": 1, "set": {1}, "ratio": float("nan"), "object": ValueError("secret")}
    ring["itself"] = ring
    result = ask(raising(ring), "shop.fail", {})
    told = {"n": 1, "set": [1], "ratio": None, "object": "ValueError", "itself": "(contains itself)"}
    assert json.loads(result.text) == told
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["output"] == told
    assert result.output is ring


def test_a_message_that_nobody_can_read_to_its_end_is_cut(ask: Any) -> None:
    result = ask(raising(ModuleError("x" * 1_000_000, code="SHOP_LOUD")), "shop.fail", {})
    assert len(result.text) < 5_000
    assert "SHOP_LOUD" in result.text


def test_guidance_for_models_is_passed_on(ask: Any) -> None:
    problem = ModuleError("Sold out", suggestion="Try another shop.", ai_guidance="Do not repeat this call.")
    lines = ask(raising(problem), "shop.fail", {}).text.splitlines()
    assert lines[1:] == ["Try another shop.", "Do not repeat this call."]


def test_a_wrong_output_is_not_blamed_on_the_arguments(ask: Any) -> None:
    result = ask(raising({"n": "x"}), "shop.fail", {})
    assert result.error.code == "SCHEMA_VALIDATION_ERROR"
    assert "Correct them" not in result.text


def test_an_unknown_module_is_an_answer(executor: Executor, ask: Any) -> None:
    result = ask(executor, "shop.nothing", {})
    assert result.error.to_dict() == {"name": "ModuleNotFoundError", "code": "MODULE_NOT_FOUND"}


def test_a_denied_caller_learns_only_that(order: Order, ask: Any) -> None:
    registry = Registry()
    registry.register("shop.order", order)
    executor = Executor(registry, acl=ACL([ACLRule(callers=["*"], targets=["*"], effect="deny")]))
    result = ask(executor, "shop.order", {"count": "wrong"})
    assert result.error.code == "ACL_DENIED"
    assert "/count" not in result.text


class Desk:
    def __init__(self) -> None:
        self.status = "pending"

    def request_approval(self, request: Any) -> ApprovalResult:
        return ApprovalResult(self.status, approval_id="42")  # type: ignore[arg-type]  # any status

    def check_approval(self, approval_id: str) -> ApprovalResult:
        return self.request_approval(None)


def gated(handler: Any) -> Executor:
    @module(id="shop.pay", annotations={"requires_approval": True}, description="Pay")
    def pay(cents: int) -> dict[str, Any]:
        return {"paid": cents}

    registry = Registry()
    registry.register("shop.pay", pay)
    return Executor(registry, approval_handler=handler)


def test_a_call_that_waits_for_a_human_says_how_to_go_on(ask: Any) -> None:
    desk = Desk()
    executor = gated(desk)
    waiting = ask(executor, "shop.pay", {"cents": 5})
    assert waiting.is_error
    assert waiting.is_pending
    assert (waiting.approval_id, waiting.error.code) == ("42", "APPROVAL_PENDING")
    assert '"_approval_token": "42"' in waiting.text
    desk.status = "approved"
    assert ask(executor, "shop.pay", {"cents": 5, "_approval_token": "42"}).output == {"paid": 5}


def test_a_refusal_is_an_answer_too(ask: Any) -> None:
    context = Context.create(identity=Identity("ada", "user"))
    result = ask(gated(AlwaysDenyHandler()), "shop.pay", {"cents": 5}, context)
    assert result.error.code == "APPROVAL_DENIED"
    assert not result.is_pending


lines = st.lists(st.fixed_dictionaries({"sku": st.text(max_size=5)}), max_size=3)
fitting = st.fixed_dictionaries(
    {"count": st.integers(1, 10**6)},
    optional={"kind": st.sampled_from(["new", "used"]), "note": st.text(max_size=20), "lines": lines},
)
misfits = st.sampled_from(
    [
        ("count", 0),
        ("count", "1"),
        ("count", None),
        ("count", 1.5),
        ("count", True),
        ("kind", "old"),
        ("note", 5),
        ("lines", {}),
        ("lines", [{}]),
        ("lines", [{"sku": None}]),
        ("unknown", 1),
    ]
)


@pytest.mark.req("RV-15")
@given(fitting, st.booleans())
def test_whatever_fits_the_schema_runs_and_arrives_as_it_was(arguments: dict[str, Any], as_text: bool) -> None:
    order = Order()
    registry = Registry()
    registry.register("shop.order", order)
    given_arguments = json.dumps(arguments) if as_text else arguments
    result = call_for_model(Executor(registry), "shop.order", given_arguments)
    assert not result.is_error
    assert order.calls == [arguments]
    assert type(order.calls[0]["count"]) is int


@pytest.mark.req("RV-15")
@given(fitting, misfits)
def test_whatever_was_spoilt_does_not_run_and_its_place_is_named(
    arguments: dict[str, Any], misfit: tuple[str, Any]
) -> None:
    order = Order()
    registry = Registry()
    registry.register("shop.order", order)
    name, value = misfit
    result = call_for_model(Executor(registry), "shop.order", {**arguments, name: value})
    assert result.is_error
    assert f"- /{name}" in result.text
    assert order.calls == []
