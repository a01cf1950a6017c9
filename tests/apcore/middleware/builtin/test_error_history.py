"""Errors of modules, once, where they came up."""

import json
from typing import Annotated, Any

import pytest
from pydantic import Field

from apcore import ApprovalResult, Context, Registry, module
from apcore.app import App
from apcore.errors import ApprovalPendingError, ModuleError
from apcore.middleware.builtin.error_history import ErrorHistoryMiddleware
from apcore.telemetry.error_history import ErrorHistory
from apcore.testing import app_with

Secret = Annotated[str, Field(json_schema_extra={"x-sensitive": True})]


@module(id="t.vault")
def vault(pin: Secret, unexpected: bool = False) -> dict[str, Any]:
    """Fail with the secret in hand."""
    if unexpected:
        raise ValueError(pin)
    raise ModuleError(f"{pin} does not turn", code="JAMMED", details={"tried": pin})


@module(id="t.outer")
def outer(context: Context, pin: Secret) -> dict[str, Any]:
    """Pass on what the vault says."""
    return dict(context.executor.call("t.vault", {"pin": pin}, context))


@pytest.fixture
def app() -> App:
    registry, history = Registry(), ErrorHistory()
    middleware = ErrorHistoryMiddleware(history, registry)
    return app_with(vault, outer, middlewares=[middleware], registry=registry, error_history=history)


def test_an_error_is_remembered_with_its_trace_and_place(app: App) -> None:
    context = Context.create()
    with pytest.raises(ModuleError):
        app.executor.call("t.vault", {"pin": "12345"}, context)
    [entry] = app.error_history.entries()
    assert (entry.module_id, entry.code, entry.kind, entry.trace_id) == (
        "t.vault",
        "JAMMED",
        "ModuleError",
        context.trace_id,
    )
    assert entry.where.endswith("in vault")


@pytest.mark.parametrize("unexpected", [False, True])
def test_no_secret_of_the_inputs_is_remembered(app: App, unexpected: bool) -> None:
    with pytest.raises(ModuleError):
        app.executor.call("t.vault", {"pin": "12345", "unexpected": unexpected})
    assert "12345" not in json.dumps([entry.to_dict() for entry in app.error_history.entries()])


def test_nor_what_goes_by_a_name_that_the_app_hides() -> None:
    @module(id="t.gate")
    def gate(badge: str) -> dict[str, Any]:
        """Fail with what nobody shall see."""
        raise ModuleError(f"no way for {badge}; badge=98765")

    redaction = {"redaction": {"sensitive_keys": ["badge"]}}
    apcore = {"extensions": {"auto_discover": False}, "acl": {"default_effect": "allow"}}
    app = app_with(gate, config={"apcore": apcore, "observability": redaction})
    with pytest.raises(ModuleError):
        app.executor.call("t.gate", {"badge": "12345"})
    [entry] = app.error_history.entries()
    assert "12345" not in entry.message
    assert "98765" not in entry.message
    assert entry.message.startswith("no way for ")


def test_an_error_that_passes_several_modules_is_one_of_the_first(app: App) -> None:
    with pytest.raises(ModuleError):
        app.executor.call("t.outer", {"pin": "12345"})
    assert [(entry.module_id, entry.count) for entry in app.error_history.entries()] == [("t.vault", 1)]


def test_an_error_of_a_rehearsal_is_none(app: App) -> None:
    with pytest.raises(ModuleError):
        app.executor.call("t.vault", {"pin": "12345"}, Context.create().rehearsal())
    assert app.error_history.entries() == []


def test_waiting_for_a_person_is_no_error(app: App) -> None:
    @module(id="t.drifted")
    def drifted() -> dict[str, Any]:
        """Find another effect than the approved one, as a worker may."""
        raise ApprovalPendingError(result=ApprovalResult(status="pending", approval_id="a-1"))

    app.registry.register("t.drifted", drifted)
    with pytest.raises(ApprovalPendingError):
        app.executor.call("t.drifted", {})
    assert app.error_history.entries() == []


def test_a_module_that_is_gone_before_its_error_is_remembered_too(app: App) -> None:
    @module(id="t.leaving")
    def leaving(context: Context) -> dict[str, Any]:
        """Go away."""
        app.registry.unregister("t.leaving")
        raise ModuleError("gone")

    app.registry.register("t.leaving", leaving)
    with pytest.raises(ModuleError):
        app.executor.call("t.leaving", {})
    assert [entry.module_id for entry in app.error_history.entries()] == ["t.leaving"]
