"""Who is denied, and what a denied caller learns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import sleep
from typing import Any

import pytest

from apcore.acl import ACL
from apcore.context import Context, Identity
from apcore.errors import ACLDeniedError
from apcore.execution import Executor
from apcore.execution.steps import acl_check
from apcore.registry import Registry

ALLOW_ALL = {"callers": ["*"], "targets": ["*"], "effect": "allow"}


class FromApiOnly:
    """Accepts callers of the API alone."""

    description = "Accept the API"
    input_schema: dict[str, Any] = {"type": "object"}
    output_schema: dict[str, Any] = {"type": "object"}
    allowed_callers = ("api.*",)

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {"caller": context.caller_id}


@pytest.fixture
def guarded(registry: Registry) -> Registry:
    registry.register("guarded.thing", FromApiOnly)
    return registry


def test_a_denied_call_names_caller_and_target_and_keeps_the_rule_for_the_log(
    registry: Registry, call: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="apcore.acl")
    acl = ACL([ALLOW_ALL | {"effect": "deny", "description": "secret reason"}])
    with pytest.raises(ACLDeniedError) as caught:
        call(Executor(registry, acl=acl), "math.add", {"a": 1, "b": 2})
    assert caught.value.details["caller_id"] == "@external"
    assert caught.value.details["target_id"] == "math.add"
    assert "secret reason" not in str(caught.value.to_dict())
    assert "secret reason" in caplog.text


@pytest.mark.req("R-5.2-09")
@pytest.mark.parametrize("acl", [None, ACL([ALLOW_ALL])])
@pytest.mark.parametrize("caller", ["web.page", None])
def test_a_caller_that_the_module_does_not_accept_is_denied(
    guarded: Registry, call: Callable[..., Any], acl: ACL | None, caller: str | None
) -> None:
    context = Context.create(call_chain=[caller] if caller else [])
    with pytest.raises(ACLDeniedError):
        call(Executor(guarded, acl=acl), "guarded.thing", {}, context)


@pytest.mark.req("R-5.2-09")
def test_the_modules_own_list_narrows_the_access_list_and_never_widens_it(
    guarded: Registry, call: Callable[..., Any]
) -> None:
    context = Context.create(call_chain=["api.page"])
    assert call(Executor(guarded, acl=ACL([ALLOW_ALL])), "guarded.thing", {}, context) == {"caller": "api.page"}
    with pytest.raises(ACLDeniedError):
        call(Executor(guarded, acl=ACL()), "guarded.thing", {}, context)


@pytest.mark.req("R-6.1-12")
def test_an_async_condition_decides_sync_and_async_calls(registry: Registry, call: Callable[..., Any]) -> None:
    async def is_tenant(value: str, context: Context) -> bool:
        await asyncio.sleep(0)
        return context.identity is not None and context.identity.id == value

    acl = ACL([ALLOW_ALL | {"conditions": {"tenant": "acme"}}], conditions={"tenant": is_tenant})
    executor = Executor(registry, acl=acl)
    acme, other = (Context.create(identity=Identity(name)) for name in ("acme", "other"))
    assert call(executor, "math.add", {"a": 1, "b": 2}, acme) == {"sum": 3}
    with pytest.raises(ACLDeniedError):
        call(executor, "math.add", {"a": 1, "b": 2}, other)


def test_a_stale_access_list_is_refreshed_before_it_is_asked(registry: Registry, call: Callable[..., Any]) -> None:
    class Refreshing(ACL):
        is_stale = True

        def refresh(self) -> None:
            self.replace([ALLOW_ALL])

    assert call(Executor(registry, acl=Refreshing()), "math.add", {"a": 1, "b": 2}) == {"sum": 3}


async def _never_answers(value: Any, context: Context) -> bool:
    await asyncio.Event().wait()
    return True


def _answers_when_it_is_too_late(value: Any, context: Context) -> bool:
    assert context.cancel_token is not None
    while not context.cancel_token.is_cancelled:
        sleep(0.001)
    return True


@pytest.mark.req("R-12.7.5-07")
@pytest.mark.parametrize("handler", [_never_answers, _answers_when_it_is_too_late])
@pytest.mark.parametrize("effect", ["allow", "deny"])
def test_a_condition_that_is_too_slow_denies_whatever_it_would_have_said(
    registry: Registry,
    call: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    handler: Callable[..., Any],
    effect: str,
) -> None:
    monkeypatch.setattr(acl_check, "LIMIT_MS", 20)
    caplog.set_level(logging.INFO, logger="apcore.acl.audit")
    rule = ALLOW_ALL | {"effect": effect, "conditions": {"slow": 1}}
    acl = ACL([rule, ALLOW_ALL], "allow", conditions={"slow": handler})
    context = Context.create()
    with pytest.raises(ACLDeniedError):
        call(Executor(registry, acl=acl), "math.add", {"a": 1, "b": 2}, context)
    [entry] = [record.acl_audit for record in caplog.records if hasattr(record, "acl_audit")]
    assert (entry["effect"], entry["rule_index"]) == ("deny", None)
    assert entry["reason"] == "no rule decided within 20 ms"
    assert context.cancel_token is None or not context.cancel_token.is_cancelled


@pytest.mark.req("R-12.7.5-07")
def test_the_limit_of_the_check_is_a_second() -> None:
    assert acl_check.LIMIT_MS == 1_000


def test_handlers_that_are_quick_decide_and_are_audited_once(
    registry: Registry, call: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="apcore.acl.audit")
    acl = ACL([ALLOW_ALL | {"conditions": {"quick": 1}}], conditions={"quick": lambda value, context: True})
    assert call(Executor(registry, acl=acl), "math.add", {"a": 1, "b": 2}) == {"sum": 3}
    assert len([record for record in caplog.records if hasattr(record, "acl_audit")]) == 1


class Foreign:
    """Somebody else's access list."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def check(self, caller_id: str | None, target_id: str, context: Context) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class ForeignAsync(Foreign):
    async def check(self, caller_id: str | None, target_id: str, context: Context) -> Any:  # type: ignore[override]  # it may be async
        return super().check(caller_id, target_id, context)


@pytest.mark.parametrize("kind", [Foreign, ForeignAsync])
@pytest.mark.parametrize(
    "answer",
    [False, None, 1, "yes", ValueError("hunter2"), SystemExit(), asyncio.CancelledError(), TimeoutError()],
)
def test_whatever_a_foreign_access_list_says_but_true_denies(
    registry: Registry, call: Callable[..., Any], kind: type[Foreign], answer: Any
) -> None:
    with pytest.raises(ACLDeniedError) as caught:
        call(Executor(registry, acl=kind(answer)), "math.add", {"a": 1, "b": 2})
    assert "hunter2" not in str(caught.value.to_dict())
    assert call(Executor(registry, acl=kind(True)), "math.add", {"a": 1, "b": 2}) == {"sum": 3}
