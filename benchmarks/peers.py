"""The same calls by every installation of `apcore`: run it with the interpreter that has the one to be measured.

It uses only what the protocol names. With `--json` it prints microseconds per call; without, it reads such figures of
another installation and compares. `make bench-peers` does both, with the core of that name from the package index.
"""

import json
import sys
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

from apcore import ACL, ACLRule, Context, Executor, Middleware, Registry

ROUNDS, SLICES = 5, 20
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}


class Add:
    """Add two numbers."""

    description = "Add two numbers."
    input_schema = SCHEMA
    output_schema = SUM

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {"sum": inputs["a"] + inputs["b"]}


class NoOp(Middleware):
    """A middleware that does nothing, with hooks of its own: inherited ones need not be called."""

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:
        return None

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> None:
        return None


def executor(rules: int = 0, middlewares: int = 0) -> Executor:
    registry = Registry()
    registry.register("bench.add", Add())
    deny = [ACLRule(callers=["*"], targets=[f"other{number}.*"], effect="deny") for number in range(rules - 1)]
    allow = ACLRule(callers=["*"], targets=["bench.*"], effect="allow")
    acl = ACL([*deny, allow], default_effect="deny") if rules else None
    return Executor(registry, acl=acl, middlewares=[NoOp() for _ in range(middlewares)])


def microseconds(function: Callable[[], object]) -> float:
    """The least of the medians of several rounds of short slices, in processor time of the whole process."""
    number = 1
    while _slice(function, number) * number < 0.01:
        number *= 2
    return min(median(_slice(function, number) for _ in range(SLICES)) for _ in range(ROUNDS)) * 1e6


def _slice(function: Callable[[], object], number: int) -> float:
    start = process_time()
    for _ in range(number):
        function()
    return (process_time() - start) / number


def cases() -> dict[str, float]:
    inputs, found = {"a": 1, "b": 2}, {}
    executors = {
        "call, class with JSON Schemas": executor(),
        "call, three no-op middlewares": executor(middlewares=3),
        "call, ACL of 10 rules": executor(rules=10),
        "call, ACL of 1,000 rules": executor(rules=1000),
    }
    for name, each in executors.items():
        found[name] = microseconds(lambda each=each: each.call("bench.add", inputs))
    found["validate"] = microseconds(lambda: executors["call, class with JSON Schemas"].validate("bench.add", inputs))
    found["register, one of 1,000"] = min(registering(1000) for _ in range(ROUNDS))
    return found


def registering(modules: int) -> float:
    registry = Registry()
    start = process_time()
    for number in range(modules):
        registry.register(f"bench.m{number}", Add())
    return (process_time() - start) / modules * 1e6


def compare(mine: dict[str, float], theirs: dict[str, float]) -> None:
    print(f"{'':34} {'this core':>13} {'the other':>13}")
    for name, seconds in theirs.items():
        print(f"{name:34} {mine[name]:10.1f} µs {seconds:10.1f} µs  {seconds / mine[name]:6.1f} x")


if __name__ == "__main__":
    if "--json" in sys.argv:
        print(json.dumps(cases()))
    else:
        compare(cases(), json.load(sys.stdin))
