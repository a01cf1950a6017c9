"""What the core adds to a call: the executor beside a bare call with jsonschema-rs on both sides."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter, process_time
from typing import Any

import jsonschema_rs
from pydantic import BaseModel

from apcore import ACL, ACLRule, Change, Context, Executor, Identity, Middleware, PreviewResult, Registry, module
from benchmarks.timing import Measurement, Settings, seconds_of_each, seconds_per_call

FLOOR = "bare call + jsonschema-rs"
CALL = "call, no ACL"
UNLIMITED = {"default_timeout": 0, "global_timeout": 0}
FUNCTION_SECONDS, CLASS_SECONDS, THREE_DEEP_SECONDS = 15e-6, 12e-6, 50e-6
MIDDLEWARE_SECONDS, PREVIEW_SECONDS = 3e-6, 25e-6
ORDER_RATIO, THREAD_RATIO, THREADS = 2.5, 1 / 0.9, 8
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


class PreviewedAdd(AddClass):
    """The same, with a preview of two changes."""

    def preview(self, inputs: dict[str, Any], context: Context) -> PreviewResult:
        update = Change("update", "bench:a", "Change a", before=0, after=inputs["a"])
        return PreviewResult(changes=[update, Change("insert", "bench:b", "Add b")])


class NoOp(Middleware):
    """A middleware that does nothing."""

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:
        return None

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> None:
        return None


def make_executor(rules: int | None, middlewares: int = 0, config: Mapping[str, Any] | None = None) -> Executor:
    """An executor over all modules here; `rules` access rules, of which the last one allows."""
    registry = Registry()
    for each in (add, total, outer, middle):
        registry.register(each.id, each)
    registry.register("bench.add_class", AddClass())
    registry.register("bench.previewed", PreviewedAdd())
    acl = None if rules is None else make_acl(rules)
    return Executor(registry, acl=acl, middlewares=[NoOp() for _ in range(middlewares)], config=config)


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
    inputs = {"a": 1, "b": 2}
    plain = make_executor(None)
    yield from single_calls(plain, inputs, settings)
    yield from orders(plain, settings)
    yield from threads(plain, inputs, settings)
    yield Measurement("call_async", asyncio.run(_async_call(make_executor(10), inputs, settings)))
    yield from checks(settings)
    yield from imports(settings)


def single_calls(plain: Executor, inputs: dict[str, int], settings: Settings) -> Iterator[Measurement]:
    """One call after the other, by one thread."""
    with_acl, with_long_acl, busy = make_executor(10), make_executor(10_000), make_executor(None, middlewares=3)
    unlimited = make_executor(None, config=UNLIMITED)
    caller = Context.create(identity=Identity(id="1"))
    functions: dict[str, Callable[[], object]] = {
        FLOOR: floor(inputs),
        CALL: lambda: plain.call("bench.add", inputs),
        "call, class with JSON Schemas": lambda: plain.call("bench.add_class", inputs),
        "call, no time limit": lambda: unlimited.call("bench.add", inputs),
        "call, ACL of 10 rules": lambda: with_acl.call("bench.add", inputs),
        "call, ACL of 10 rules, with identity": lambda: with_acl.call("bench.add", inputs, caller),
        "call, ACL of 10,000 rules": lambda: with_long_acl.call("bench.add", inputs),
        "call, three modules deep": lambda: plain.call("bench.outer", inputs),
        "call, three no-op middlewares": lambda: busy.call("bench.add", inputs),
        "validate": lambda: plain.validate("bench.add", inputs),
        "validate with preview": lambda: plain.validate("bench.previewed", inputs),
    }
    seconds = seconds_of_each(functions, settings)
    targets = {
        CALL: FUNCTION_SECONDS,
        "call, class with JSON Schemas": CLASS_SECONDS,
        "call, three modules deep": THREE_DEEP_SECONDS,
        "call, three no-op middlewares": seconds[CALL] + MIDDLEWARE_SECONDS,
        "validate with preview": PREVIEW_SECONDS,
    }
    for name, each in seconds.items():
        yield Measurement(name, each, FLOOR if name != FLOOR else "", targets.get(name))


def orders(executor: Executor, settings: Settings) -> Iterator[Measurement]:
    """Larger inputs, beside what validating and computing them costs by itself."""
    definition = executor.registry.get_definition("bench.order")
    accepts_input = jsonschema_rs.validator_for(dict(definition.input_schema)).is_valid
    accepts_output = jsonschema_rs.validator_for(dict(definition.output_schema)).is_valid

    def floor(order: dict[str, Any]) -> None:
        assert accepts_input(order)
        assert accepts_output(definition.execute(order, context))

    context = Context.create()
    for lines in (20, 500):
        order = {"order": {"number": 1, "lines": [{"sku": "a", "quantity": 1, "cents": 5}] * lines}}
        bare, call = f"order of {lines} lines, bare", f"call, order of {lines} lines"
        functions: dict[str, Callable[[], object]] = {
            bare: lambda order=order: floor(order),
            call: lambda order=order: executor.call("bench.order", order),
        }
        seconds = seconds_of_each(functions, settings)
        yield Measurement(bare, seconds[bare])
        yield Measurement(call, seconds[call], bare, ORDER_RATIO * seconds[bare])


def threads(executor: Executor, inputs: dict[str, int], settings: Settings) -> Iterator[Measurement]:
    """The same number of calls, by one thread and by several, on the clock on the wall.

    Each takes longer than a thread may keep the interpreter (5 ms), or nothing would be shared.
    """
    calls, alone, together = 8_000, "call, in one thread of a pool", f"call, in {THREADS} threads"

    def work(number: int) -> None:
        for _ in range(number):
            executor.call("bench.add", inputs)

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(THREADS) as several:
        functions: dict[str, Callable[[], object]] = {
            alone: lambda: list(one.map(work, [calls])),
            together: lambda: list(several.map(work, [calls // THREADS] * THREADS)),
        }
        seconds = {name: each / calls for name, each in seconds_of_each(functions, settings, perf_counter).items()}
    yield Measurement(alone, seconds[alone])
    yield Measurement(together, seconds[together], alone, THREAD_RATIO * seconds[alone])


def checks(settings: Settings) -> Iterator[Measurement]:
    """The access list alone: how long it is must not count."""
    caller = Context.create(identity=Identity(id="1"))

    long = "check, 10,000 rules"
    few, many = make_mixed_acl(10), make_mixed_acl(10_000)
    functions: dict[str, Callable[[], object]] = {
        CHECK: lambda: few.check("web.page", "bench.add", caller),
        long: lambda: many.check("web.page", "bench.add", caller),
    }
    seconds = seconds_of_each(functions, settings)
    yield Measurement(CHECK, seconds[CHECK], target_seconds=CHECK_SECONDS)
    yield Measurement(long, seconds[long], CHECK, min(3 * seconds[CHECK], CHECK_SECONDS))


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
    """Processor time of all threads: a plain function runs in another one than the event loop."""
    number, found = 200, []
    for _ in range(settings.rounds):
        start = process_time()
        for _ in range(number):
            await executor.call_async("bench.add", inputs)
        found.append((process_time() - start) / number)
    return min(found)


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
