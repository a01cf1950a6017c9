"""What it costs to register thousands of modules, in time and memory, beside building the same schemas with pydantic.

Each case is a process of its own: what one leaves in caches must not make the next one look fast.
"""

import inspect
import json
import resource
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from time import process_time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, create_model

from apcore import Registry, module
from benchmarks.timing import Measurement, Settings

MANY, FEW = 10_000, 200
ALLOWED_RATIO = 1.3
CLASS_TARGET_SECONDS = 0.3

_FUNCTION = '''
def operation_{number}(
    name: str, field_{number}: int = 1, tags: list[str] | None = None, limits: dict[str, float] | None = None
) -> dict[str, int]:
    """Do number {number}.

    Args:
        name: What it is called.
        field_{number}: How many.
    """
    return {{"count": 1}}
'''
_TYPED_FUNCTION = '''
def operation_{number}(
    line: Line, field_{number}: Annotated[int, Field(ge=1)] = 1, mode: Literal["fast", "safe"] = "safe"
) -> dict[str, int]:
    """Do number {number}."""
    return {{"count": line.quantity}}
'''


class Line(BaseModel):
    sku: str
    quantity: int


def functions(source: str, number: int) -> list[Callable[..., Any]]:
    """As many functions, no two of which have the same schema."""
    namespace: dict[str, Any] = {"Annotated": Annotated, "Field": Field, "Line": Line, "Literal": Literal}
    for each in range(number):
        exec(source.format(number=each), namespace)
    return [namespace[f"operation_{each}"] for each in range(number)]


def classes(number: int) -> list[type]:
    """Modules as classes with JSON Schemas."""
    schema = {"type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"]}
    parts = {"description": "Do it.", "input_schema": schema, "output_schema": schema, "execute": lambda *_: {}}
    return [type(f"Operation{each}", (), dict(parts)) for each in range(number)]


def register_functions(found: list[Callable[..., Any]]) -> object:
    registry = Registry()
    for index, function in enumerate(found):
        made = module(function, id=f"bench.m{index}")
        registry.register(made.id, made)
    return registry


def register_classes(found: list[type]) -> object:
    registry = Registry()
    for index, each in enumerate(found):
        registry.register(f"bench.m{index}", each)
    return registry


def build_with_pydantic(found: list[Callable[..., Any]]) -> object:
    """The least that pydantic alone does for the same schemas: a model of the parameters, and the return type."""
    return [_models_of(function) for function in found]


def _models_of(function: Callable[..., Any]) -> object:
    hints = typing.get_type_hints(function, include_extras=True)
    returns = hints.pop("return")
    parameters = inspect.signature(function).parameters
    fields: dict[str, Any] = {
        name: (hint, ... if parameters[name].default is inspect.Parameter.empty else parameters[name].default)
        for name, hint in hints.items()
    }
    model = create_model(function.__name__, **fields)
    return model, model.model_json_schema(), TypeAdapter(returns).json_schema()


CASES: dict[str, Callable[[int], Callable[[], object]]] = {
    "plain functions, pydantic alone": lambda n: _later(build_with_pydantic, functions(_FUNCTION, n)),
    "plain functions": lambda n: _later(register_functions, functions(_FUNCTION, n)),
    "functions with models, pydantic alone": lambda n: _later(build_with_pydantic, functions(_TYPED_FUNCTION, n)),
    "functions with models": lambda n: _later(register_functions, functions(_TYPED_FUNCTION, n)),
    "class modules": lambda n: _later(register_classes, classes(n)),
}


def cases(settings: Settings) -> Iterator[Measurement]:
    number = MANY if settings == Settings() else FEW
    known: dict[str, float] = {}
    for name in CASES:
        base = f"{name}, pydantic alone"
        seconds, megabytes = _in_own_process(name, number)
        known[name] = seconds
        if base in CASES:
            allowed = ALLOWED_RATIO * known[base]
            yield Measurement(name, seconds, base, allowed, megabytes)
        else:
            target = CLASS_TARGET_SECONDS * number / MANY if name == "class modules" else None
            yield Measurement(name, seconds, target_seconds=target, megabytes=megabytes)


def _in_own_process(name: str, number: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.registration", name, str(number)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, megabytes = json.loads(answer)
    return seconds, megabytes


def _later(function: Callable[[Any], object], argument: Any) -> Callable[[], object]:
    return lambda: function(argument)


def _measure(name: str, number: int) -> tuple[float, float]:
    """Seconds of the processor, and megabytes by which the process grew."""
    run = CASES[name](number)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = process_time()
    kept = run()
    seconds = process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert kept is not None
    return seconds, grown


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], int(sys.argv[2]))))
