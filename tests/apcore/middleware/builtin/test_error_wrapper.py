from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from apcore import Executor, Registry, module
from apcore.errors import ModuleError, ModuleExecuteError
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
