"""What it costs to import the package, and to register thousands of modules, beside what pydantic needs for the same.

Each case is a process of its own: what one leaves in caches must not make the next one look fast. The cases take turns,
and the least of their times counts, so that what else the machine does counts little.
"""

import inspect
import json
import resource
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Final, Literal

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


def classes_apart(number: int) -> list[type]:
    """Modules as classes, no two of which have a schema in common."""
    return [_class_apart(each) for each in range(number)]


def _class_apart(number: int) -> type:
    takes = {"type": "object", "properties": {f"value_{number}": {"type": "integer"}}, "required": [f"value_{number}"]}
    gives = {"type": "object", "properties": {f"result_{number}": {"type": "string"}}}
    parts = {"description": "Do it.", "input_schema": takes, "output_schema": gives, "execute": lambda *_: {}}
    return type(f"Operation{number}", (), parts)


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


CASES: dict[str, tuple[Callable[[list[Any]], object], Callable[[int], list[Any]]]] = {
    "plain functions, pydantic alone": (build_with_pydantic, lambda number: functions(_FUNCTION, number)),
    "plain functions": (register_functions, lambda number: functions(_FUNCTION, number)),
    "functions with models, pydantic alone": (build_with_pydantic, lambda number: functions(_TYPED_FUNCTION, number)),
    "functions with models": (register_functions, lambda number: functions(_TYPED_FUNCTION, number)),
    "class modules, one schema": (register_classes, classes),
    "class modules, schemas of their own": (register_classes, classes_apart),
}
_IMPORT: Final = "import apcore"
_PYDANTIC: Final = "import pydantic, its models"
_IMPORTS: Final = {_PYDANTIC: "from pydantic import BaseModel", _IMPORT: "import apcore"}
_MEMORY: Final = Path("/proc/self/statm")
_TIMED_IMPORT: Final = """
from time import process_time
start = process_time()
{statement}
print(process_time() - start)
"""


def cases(settings: Settings) -> Iterator[Measurement]:
    number = MANY if settings == Settings() else FEW
    imports = _least({name: lambda name=name: (_import_seconds(name), 0.0) for name in _IMPORTS}, settings.rounds)
    yield Measurement(_PYDANTIC, imports[_PYDANTIC][0])
    yield Measurement(_IMPORT, imports[_IMPORT][0], _PYDANTIC, ALLOWED_RATIO * imports[_PYDANTIC][0])
    quick = [name for name in CASES if name.startswith("class modules")]
    slow = [name for name in CASES if name not in quick]  # their seconds say enough after one round
    least = _least({name: lambda name=name: _in_own_process(name, number) for name in slow}, 1)
    least |= _least({name: lambda name=name: _in_own_process(name, number) for name in quick}, settings.rounds)
    for name, (seconds, megabytes) in least.items():
        base = f"{name}, pydantic alone"
        if base in CASES:
            yield Measurement(name, seconds, base, ALLOWED_RATIO * least[base][0], megabytes)
        else:
            target = CLASS_TARGET_SECONDS * number / MANY if name in quick else None
            yield Measurement(name, seconds, target_seconds=target, megabytes=megabytes)


def _least(measure: Mapping[str, Callable[[], tuple[float, float]]], rounds: int) -> dict[str, tuple[float, float]]:
    """The least time and the least memory of each case, over rounds in which all of them take their turn."""
    taken = [{name: function() for name, function in measure.items()} for _ in range(rounds)]
    return {name: (min(each[name][0] for each in taken), min(each[name][1] for each in taken)) for name in measure}


def _import_seconds(name: str) -> float:
    command = [sys.executable, "-c", _TIMED_IMPORT.format(statement=_IMPORTS[name])]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _in_own_process(name: str, number: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.registration", name, str(number)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, megabytes = json.loads(answer)
    return seconds, megabytes


def _measure(name: str, number: int) -> tuple[float, float]:
    """Seconds of the processor, and megabytes by which the process grew; what is done once in a process is done."""
    run, make = CASES[name]
    run(make(1))
    made = make(number)
    before = _megabytes()
    start = process_time()
    kept = run(made)
    seconds = process_time() - start
    grown = _megabytes() - before
    assert kept is not None
    return seconds, grown


def _megabytes() -> float:
    """What the process holds now; where the system does not tell, the most that it has held."""
    if _MEMORY.exists():
        return int(_MEMORY.read_text().split()[1]) * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], int(sys.argv[2]))))
