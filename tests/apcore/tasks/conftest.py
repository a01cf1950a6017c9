"""Modules that can be held, and managers that are shut down after the test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apcore.acl import ACL, ACLRule
from apcore.context import Context
from apcore.errors import ModuleError
from apcore.execution import Executor
from apcore.modules import ModuleAnnotations, module
from apcore.registry import Registry
from apcore.tasks import AsyncTaskManager


class Workshop:
    """What the modules of these tests did, and the gates that hold them."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.entered = threading.Event()
        self.gate = threading.Event()
        self.failures_left = 0


@pytest.fixture
def workshop() -> Iterator[Workshop]:
    made = Workshop()
    yield made
    made.gate.set()


def quick_modules(workshop: Workshop) -> tuple[Any, ...]:
    @module(id="work.echo")
    def echo(number: int, context: Context) -> dict[str, Any]:
        """Give the number back"""
        workshop.calls.append(context.trace_id)
        return {"number": number}

    @module(id="work.echo_async")
    async def echo_async(number: int) -> dict[str, Any]:
        """Give the number back, later"""
        workshop.calls.append(str(number))
        await asyncio.sleep(0)
        return {"number": number}

    @module(id="work.forbidden")
    def forbidden() -> dict[str, Any]:
        """Nobody may call this"""
        workshop.calls.append("forbidden")
        return {}

    return echo, echo_async, forbidden


def modules_that_take_their_time(workshop: Workshop) -> tuple[Any, ...]:
    @module(id="work.held")
    def held(context: Context) -> dict[str, Any]:
        """Wait for the gate, or for the token"""
        workshop.calls.append("held")
        workshop.entered.set()
        while not workshop.gate.wait(0.001):
            context.cancel_token.check()
        return {"held": True}

    @module(id="work.deaf")
    def deaf() -> dict[str, Any]:
        """Wait for the gate and for nothing else"""
        workshop.entered.set()
        workshop.gate.wait()
        return {"deaf": True}

    @module(id="work.asleep")
    async def asleep() -> dict[str, Any]:
        """Sleep as if for ever"""
        workshop.entered.set()
        await asyncio.sleep(3600)
        return {}

    @module(id="work.stepwise")
    def stepwise(steps: list[list[float | None]], context: Context) -> dict[str, Any]:
        """Report progress"""
        for done, total in steps:
            context.report_progress(done, total, f"at {done}")
        workshop.entered.set()
        workshop.gate.wait()
        return {}

    return held, deaf, asleep, stepwise


def modules_that_fail(workshop: Workshop) -> tuple[Any, ...]:
    @module(id="work.shaky", annotations=ModuleAnnotations(idempotent=True))
    def shaky() -> dict[str, Any]:
        """Fail a few times"""
        workshop.calls.append("shaky")
        if workshop.failures_left:
            workshop.failures_left -= 1
            raise ModuleError("not yet", code="SHAKY_NOT_YET", retryable=True)
        return {"ok": True}

    @module(id="work.broken")
    def broken() -> dict[str, Any]:
        """Fail with a secret in the text"""
        workshop.calls.append("broken")
        raise ValueError("password=hunter2")

    return shaky, broken


@pytest.fixture
def executor(workshop: Workshop) -> Executor:
    registry = Registry()
    for modules in (quick_modules, modules_that_take_their_time, modules_that_fail):
        for each in modules(workshop):
            registry.register(each.id, each)
    rules = [ACLRule(["*"], ["work.forbidden"], "deny")]
    return Executor(registry, acl=ACL(rules, default_effect="allow"))


@pytest.fixture
def manage(executor: Executor, workshop: Workshop) -> Iterator[Callable[..., AsyncTaskManager]]:
    """Makes managers over the executor."""
    made: list[AsyncTaskManager] = []

    def make(**options: Any) -> AsyncTaskManager:
        made.append(AsyncTaskManager(executor, **options))
        return made[-1]

    yield make
    workshop.gate.set()
    for manager in made:
        manager.shutdown(cancel=True, timeout=30)


@pytest.fixture
def manager(manage: Callable[..., AsyncTaskManager]) -> AsyncTaskManager:
    return manage()
