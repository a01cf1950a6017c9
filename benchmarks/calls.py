"""What the core adds to a call: the executor beside a bare call with jsonschema-rs on both sides."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs
from pydantic import BaseModel

from apcore import ACL, ACLRule, Context, Executor, Identity, Registry, module
from benchmarks.timing import Measurement, Settings, seconds_per_call

FLOOR = "bare call + jsonschema-rs"
TARGET_SECONDS = 40e-6
CHECK = "check, 10 rules"
CHECK_SECONDS = 5e-6


class Line(BaseModel):
    sku: str
    quantity: int
    cents: int


class Order(BaseModel):
    number: int
    lines: list[Line]


@module(id="bench.add")
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@module(id="bench.order")
def total(order: Order) -> dict[str, int]:
    """Sum up an order."""
    return {"cents": sum(line.quantity * line.cents for line in order.lines)}


@module(id="bench.outer")
def outer(context: Context, a: int, b: int) -> dict[str, int]:
    """Call the module below, which calls the one below it."""
    return dict(context.executor.call("bench.middle", {"a": a, "b": b}, context))


@module(id="bench.middle")
def middle(context: Context, a: int, b: int) -> dict[str, int]:
    """Call the innermost module."""
    return dict(context.executor.call("bench.add", {"a": a, "b": b}, context))


class AddClass:
    """Add two numbers, as a class with JSON Schemas."""

    description = "Add two numbers."
    input_schema: dict[str, Any] = {  # noqa: RUF012 - as users write it
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    }
    output_schema: dict[str, Any] = {  # noqa: RUF012 - as users write it
        "type": "object",
        "properties": {"sum": {"type": "integer"}},
        "required": ["sum"],
    }

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {"sum": inputs["a"] + inputs["b"]}


def make_executor(rules: int | None) -> Executor:
    """An executor over all modules here; `rules` access rules, of which the last one allows."""
    registry = Registry()
    for each in (add, total, outer, middle):
        registry.register(each.id, each)
    registry.register("bench.add_class", AddClass())
    return Executor(registry, acl=None if rules is None else make_acl(rules))


def make_acl(rules: int) -> ACL:
    others = [ACLRule(callers=["*"], targets=[f"other{number}.*"], effect="deny") for number in range(rules - 1)]
    return ACL([*others, ACLRule(callers=["*"], targets=["bench.*"], effect="allow")], default_effect="deny")


def make_mixed_acl(rules: int) -> ACL:
    """Rules of every kind of pattern, of which the last one allows."""
    forms: list[Callable[[int], ACLRule]] = [
        lambda number: ACLRule(callers=["*"], targets=[f"exact{number}.do"], effect="deny"),
        lambda number: ACLRule(callers=["*"], targets=[f"prefix{number}.*"], effect="deny"),
        lambda number: ACLRule(callers=["*"], targets=[f"*.word{number}.*", f"bench.*.end{number}"], effect="deny"),
        lambda number: ACLRule(callers=[f"caller{number}.*"], targets=["bench.*", "*"], effect="deny"),
        lambda number: ACLRule(callers=["@external", f"own{number}.*"], targets=["bench.*"], effect="deny"),
        lambda number: ACLRule(["$or", "@system", "api.*"], ["bench.add"], "allow", conditions={"roles": ["admin"]}),
    ]
    others = [forms[number % len(forms)](number) for number in range(rules - 1)]
    return ACL([*others, ACLRule(callers=["*"], targets=["bench.*"], effect="allow")], default_effect="deny")


def cases(settings: Settings) -> Iterator[Measurement]:
    def measured(name: str, function: Callable[[], object], target: float | None = None) -> Measurement:
        return Measurement(name, seconds_per_call(function, settings), FLOOR if name != FLOOR else "", target)

    inputs = {"a": 1, "b": 2}
    plain, with_acl, with_long_acl = make_executor(None), make_executor(10), make_executor(10_000)
    caller = Context.create(identity=Identity(id="1"))

    yield measured(FLOOR, floor(inputs))
    yield measured("call, no ACL", lambda: plain.call("bench.add", inputs))
    yield measured("call, ACL of 10 rules", lambda: with_acl.call("bench.add", inputs), TARGET_SECONDS)
    yield measured("call, ACL of 10 rules, with identity", lambda: with_acl.call("bench.add", inputs, caller))
    yield measured("call, ACL of 10,000 rules", lambda: with_long_acl.call("bench.add", inputs))
    yield measured("call, class with JSON Schemas", lambda: with_acl.call("bench.add_class", inputs))
    yield measured("call, three modules deep", lambda: with_acl.call("bench.outer", inputs))
    yield measured("validate", lambda: with_acl.validate("bench.add", inputs))
    for lines in (20, 500):
        order = {"order": {"number": 1, "lines": [{"sku": "a", "quantity": 1, "cents": 5}] * lines}}
        yield measured(f"call, order of {lines} lines", lambda order=order: with_acl.call("bench.order", order))
    yield Measurement("call_async", asyncio.run(_async_call(with_acl, inputs, settings)), FLOOR)
    yield from checks(settings)
    yield from imports(settings)


def checks(settings: Settings) -> Iterator[Measurement]:
    """The access list alone: how long it is must not count."""
    caller = Context.create(identity=Identity(id="1"))

    def seconds(rules: int) -> float:
        acl = make_mixed_acl(rules)
        return seconds_per_call(lambda: acl.check("web.page", "bench.add", caller), settings)

    few, many = seconds(10), seconds(10_000)
    yield Measurement(CHECK, few, target_seconds=CHECK_SECONDS)
    yield Measurement("check, 10,000 rules", many, CHECK, min(3 * few, CHECK_SECONDS))


def floor(inputs: dict[str, int]) -> Callable[[], object]:
    """The least that a validated call can cost: two compiled validators and the function."""
    accepts_input = jsonschema_rs.validator_for(AddClass.input_schema).is_valid
    accepts_output = jsonschema_rs.validator_for(AddClass.output_schema).is_valid
    function = add.function

    def call() -> object:
        assert accepts_input(inputs)
        output = function(**inputs)
        assert accepts_output(output)
        return output

    return call


async def _async_call(executor: Executor, inputs: dict[str, int], settings: Settings) -> float:
    number = 200
    loop = asyncio.get_running_loop()
    best = []
    for _ in range(settings.rounds):
        start = loop.time()
        for _ in range(number):
            await executor.call_async("bench.add", inputs)
        best.append((loop.time() - start) / number)
    return sorted(best)[len(best) // 2]


def imports(settings: Settings) -> Iterator[Measurement]:
    """Whole processes that import something: the package alone, and the package with every public name."""

    def spent(statement: str) -> float:
        command = [sys.executable, "-c", statement]
        return seconds_per_call(lambda: subprocess.run(command, check=True), Settings(settings.rounds, 0))

    pydantic = spent("import pydantic; pydantic.BaseModel")
    yield Measurement("import pydantic", pydantic)
    yield Measurement("import apcore", spent("import apcore"), "import pydantic", 1.3 * pydantic)
    yield Measurement("from apcore import module", spent("from apcore import module"), "import pydantic")
    yield Measurement("from apcore import *", spent("from apcore import *"), "import pydantic")
