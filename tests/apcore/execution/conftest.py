"""A registry of small modules, and executors over it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apcore.context import Context
from apcore.execution import Executor
from apcore.modules import module
from apcore.registry import Registry


class Recorder:
    """A class module with dict schemas that records how it was called."""

    description = "Records its inputs"
    input_schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"type": "integer", "default": 1}},
        "required": ["text"],
        "additionalProperties": False,
    }
    output_schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.contexts: list[Context] = []

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        self.calls.append(inputs)
        self.contexts.append(context)
        return {"text": inputs["text"] * inputs["times"]}


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def registry(recorder: Recorder) -> Registry:
    @module(id="math.add")
    def add(a: int, b: int) -> dict[str, Any]:
        """Add two numbers"""
        return {"sum": a + b}

    @module(id="math.add_async")
    async def add_async(a: int, b: int) -> dict[str, Any]:
        """Add two numbers, later"""
        await asyncio.sleep(0)
        return {"sum": a + b}

    @module(id="math.twice")
    def twice(a: int, context: Context) -> dict[str, Any]:
        """Call another module"""
        return dict(context.executor.call("math.add", {"a": a, "b": a}, context))

    @module(id="broken.secret")
    def broken() -> dict[str, Any]:
        """Fail with a secret in the text"""
        raise ValueError("password=hunter2")

    registry = Registry()
    for each in (add, add_async, twice, broken):
        registry.register(each.id, each)
    registry.register("text.record", recorder)
    return registry


@pytest.fixture
def executor(registry: Registry) -> Executor:
    return Executor(registry)


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Threads take turns after every few instructions, so that each moment of a race comes up."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """``call(executor, module_id, inputs, context)`` by the sync and by the async driver."""

    def run(executor: Executor, *arguments: Any, **options: Any) -> Any:
        if request.param == "sync":
            return executor.call(*arguments, **options)
        return asyncio.run(executor.call_async(*arguments, **options))

    return run
