from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import Field

from apcore import Executor, Registry, call_for_model, module
from apcore.errors import ModuleError, ModuleExecuteError, SchemaValidationError
from apcore.middleware.builtin.error_wrapper import ErrorWrapperMiddleware

Secret = Annotated[str, Field(json_schema_extra={"x-sensitive": True})]


@module(id="m.vault")
def vault(pin: Secret, kind: str = "own") -> None:
    """Fail with the secret in every part of the error."""
    if kind == "foreign":
        raise ValueError(pin)
    raise ModuleError(
        f"{pin} does not fit", details={"tried": [pin], "token": "x"}, ai_guidance=f"not {pin}", suggestion=f"no {pin}"
    )


class Broken:
    """A middleware further in that fails by itself."""

    priority = 700

    async def around_call(self, strategy: Any, state: Any, proceed: Any) -> Any:
        await proceed(strategy, state)
        raise RuntimeError(f"saw {state.inputs}")


def executor_with(*middlewares: object) -> Executor:
    registry = Registry()
    registry.register("m.vault", vault)

    @module(id="m.fine")
    def fine() -> None:
        """Do nothing."""

    registry.register("m.fine", fine)
    return Executor(registry, middlewares=[ErrorWrapperMiddleware(), *middlewares])


def test_the_secrets_of_the_inputs_are_hidden_in_every_part_of_the_error():
    with pytest.raises(ModuleError) as raised:
        executor_with().call("m.vault", {"pin": "1234-5678"})
    assert "1234-5678" not in f"{raised.value} {raised.value.to_dict()}"
    assert raised.value.message == "***REDACTED*** does not fit"
    assert raised.value.details["token"] == "***REDACTED***"


def test_credentials_that_are_no_inputs_are_hidden_by_their_form():
    def error() -> ModuleError:
        return ModuleError("No answer from postgres://ada:hunter2@db", suggestion="Try postgres://ada:hunter2@spare")

    executor = executor_with()
    executor.registry.register("m.telling", Telling(error))
    with pytest.raises(ModuleError) as raised:
        executor.call("m.telling", {})
    assert raised.value.message == "No answer from postgres://***REDACTED***@db"
    assert raised.value.suggestion == "Try postgres://***REDACTED***@spare"


SECRET = "1234-5678"


class Telling:
    """Fails with the secret in the part of the error that it is told."""

    description = "Fails"
    input_schema = {"type": "object", "properties": {"pin": {"type": "string", "x-sensitive": True}}}
    output_schema: dict[str, Any] = {}

    def __init__(self, error: Any) -> None:
        self.error = error

    def execute(self, inputs: dict[str, Any], context: Any) -> dict[str, Any]:
        raise self.error()


def _with_details(itself: bool = False) -> ModuleError:
    details: dict[str, Any] = {SECRET: 1, "tried": [{SECRET: (SECRET, {SECRET})}], "error": ValueError(SECRET)}
    if itself:
        details["itself"] = details
    return ModuleError("Bad", details=details)


@pytest.mark.parametrize(
    "error",
    [
        lambda: ModuleError("Bad", cause=ModuleError(SECRET, details={"a": SECRET}, suggestion=SECRET)),
        lambda: ModuleError("Bad", cause=ModuleError("Mid", cause=ModuleError("Low", ai_guidance=SECRET))),
        lambda: ModuleExecuteError("Bad", cause=ValueError(SECRET)),
        lambda: SchemaValidationError("Bad", errors=[{"path": "/a", "message": SECRET, "actual": SECRET}]),
        lambda: ModuleError("Bad", code=SECRET),
        _with_details,
        lambda: _with_details(itself=True),
        lambda: ExceptionGroup(SECRET, [ValueError(SECRET)]),
        lambda: FileNotFoundError(2, SECRET, SECRET),
    ],
)
def test_a_secret_leaves_in_no_part_of_an_error_and_its_causes(error: Any) -> None:
    executor = executor_with()
    executor.registry.register("m.telling", Telling(error))
    with pytest.raises(ModuleError) as raised:
        executor.call("m.telling", {"pin": SECRET})
    result = call_for_model(executor, "m.telling", {"pin": SECRET})
    assert (
        SECRET not in f"{json.dumps(raised.value.to_dict())} {raised.value!r} {json.dumps(result.to_dict())} {result!r}"
    )


def test_foreign_errors_stay_wrapped():
    with pytest.raises(ModuleExecuteError) as raised:
        executor_with().call("m.vault", {"pin": "1234-5678", "kind": "foreign"})
    assert "1234-5678" not in str(raised.value.to_dict())
    assert isinstance(raised.value.cause, ValueError)


def test_what_a_middleware_raises_around_a_call_is_wrapped():
    with pytest.raises(ModuleExecuteError) as raised:
        executor_with(Broken()).call("m.fine")
    assert raised.value.module_id == "m.fine"
    assert raised.value.details["type"] == "RuntimeError"


def test_errors_before_there_is_a_context_leave_as_they_are():
    with pytest.raises(ModuleError, match="must be an object"):
        executor_with().call("m.fine", 5)
