"""The log names whose code ignored its deadline, and which deadline that was."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from apcore.acl import ACL
from apcore.context import Context
from apcore.errors import ModuleError
from apcore.execution import Executor
from apcore.execution.steps import acl_check
from apcore.middleware import Middleware
from apcore.modules import module
from apcore.registry import Registry

Call = Callable[..., Any]
LIMITS = {"global_timeout": 100, "grace_period": 30}
CHAIN = "that of the whole chain; executor.global_timeout = 100 ms"


def spin() -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        sum(range(50))


class Quiet(Middleware):
    def before(self, *_: Any) -> None:
        """Look."""

    def after(self, *_: Any) -> None:
        """Look."""


class Spinning(Quiet):
    def __init__(self, hook: str) -> None:
        self.hook = hook

    def before(self, *_: Any) -> None:
        self.act("before")

    def after(self, *_: Any) -> None:
        self.act("after")

    def on_error(self, *_: Any) -> None:
        self.act("on_error")

    def act(self, hook: str) -> None:
        if hook == self.hook:
            spin()


class SpinningLater(Spinning):
    """The same as coroutines."""

    async def before(self, *_: Any) -> None:  # type: ignore[override]  # it may be async
        self.act("before")

    async def after(self, *_: Any) -> None:  # type: ignore[override]  # it may be async
        self.act("after")

    async def on_error(self, *_: Any) -> None:  # type: ignore[override]  # it may be async
        self.act("on_error")


@module(id="over.module")
def overrun(kind: str) -> dict[str, Any]:
    """Do as one is told"""
    if kind == "fail":
        raise ValueError
    if kind == "spin":
        spin()
    return {}


def executor_with(**options: Any) -> Executor:
    registry = Registry()
    registry.register(overrun.id, overrun)
    return Executor(registry, **options)


def said(caplog: pytest.LogCaptureFixture) -> str:
    [text] = [each.getMessage() for each in caplog.records if " and is interrupted " in each.getMessage()]
    return text.partition(" and is interrupted ")[0]


@pytest.mark.parametrize("hook", ["before", "after", "on_error"])
@pytest.mark.parametrize("kind", [Spinning, SpinningLater])
def test_a_hook_is_named_with_its_middleware(
    call: Call, caplog: pytest.LogCaptureFixture, kind: type[Spinning], hook: str
) -> None:
    executor = executor_with(config=LIMITS)
    for middleware in (Quiet(), kind(hook), Quiet()):
        executor.use(middleware)
    with pytest.raises(ModuleError):
        call(executor, "over.module", {"kind": "fail" if hook == "on_error" else "return"})
    name = "spinning" if kind is Spinning else "spinning_later"
    assert said(caplog) == f"{hook}() of middleware {name} around module over.module ignored its deadline ({CHAIN})"


@pytest.mark.parametrize(
    ("limits", "expected"),
    [(LIMITS, CHAIN), ({**LIMITS, "default_timeout": 50}, "executor.default_timeout = 50 ms")],
)
def test_a_module_is_named_with_the_limit_that_came_first(
    call: Call, caplog: pytest.LogCaptureFixture, limits: dict[str, int], expected: str
) -> None:
    with pytest.raises(ModuleError):
        call(executor_with(config=limits, middlewares=[Quiet()]), "over.module", {"kind": "spin"})
    assert said(caplog) == f"Module over.module ignored its deadline ({expected})"


def spinning_condition(value: Any, context: Context) -> bool:
    spin()
    return True


async def spinning_condition_later(value: Any, context: Context) -> bool:
    return spinning_condition(value, context)


@pytest.mark.parametrize("condition", [spinning_condition, spinning_condition_later])
def test_an_access_check_is_named_with_its_own_limit(
    call: Call, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, condition: Any
) -> None:
    monkeypatch.setattr(acl_check, "LIMIT_MS", 40)
    rule = {"callers": ["*"], "targets": ["*"], "effect": "allow", "conditions": {"slow": 1}}
    executor = executor_with(acl=ACL([rule], conditions={"slow": condition}), config={"grace_period": 20})
    with pytest.raises(ModuleError):
        call(executor, "over.module", {"kind": "return"})
    assert said(caplog) == "The access check of module over.module ignored its deadline (40 ms)"
