import asyncio
import functools
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from apcore.context import Context
from apcore.errors import FuncMissingReturnTypeError, FuncMissingTypeHintError
from apcore.modules import FunctionModule, ModuleAnnotations, ModuleExample, define_module, module
from apcore.registry import Registry


@dataclass(frozen=True)
class Price:
    amount: Decimal


def add(a: int, b: int = 1) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


async def add_later(a: int, context: Context) -> dict[str, object]:
    await asyncio.sleep(0)
    return {"a": a, "trace": context.trace_id}


def run(function_module, inputs, context=None):
    definition = define_module("test.module", function_module)
    result = definition.execute(inputs, context)
    return asyncio.run(result) if definition.is_async else result


@pytest.mark.req("R-5.11.4-02")
def test_a_parameter_without_a_type_is_refused():
    def f(a) -> dict: ...

    with pytest.raises(FuncMissingTypeHintError):
        FunctionModule(f, id="a.b")


@pytest.mark.req("R-5.11.4-03")
def test_a_missing_return_type_is_refused():
    def f(a: int): ...

    with pytest.raises(FuncMissingReturnTypeError):
        FunctionModule(f, id="a.b")


@pytest.mark.req("R-5.11.4-02")
def test_a_class_that_does_not_come_further_down_is_refused_at_registration():
    def f(a: int) -> dict: ...

    f.__annotations__["a"] = "Nowhere"
    made = FunctionModule(f, id="a.b")

    with pytest.raises(FuncMissingTypeHintError, match="Nowhere"):
        Registry().register("a.b", made)


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match="no option 'title'"):
        FunctionModule(add, id="a.b", title="Add")


@pytest.mark.req("R-5.11.1-02")
def test_the_function_stays_callable_as_it_was():
    wrapped = FunctionModule(add, id="a.b")
    assert wrapped(1, b=2) == {"sum": 3}
    assert (wrapped.__name__, wrapped.__doc__, wrapped.__wrapped__) == ("add", "Add two numbers.", add)


@pytest.mark.req("R-5.11.8-01")
def test_sync_and_async_functions_both_become_execute():
    context = Context.create()
    assert run(FunctionModule(add, id="a.b"), {"a": 1}) == {"sum": 2}
    assert run(FunctionModule(add_later, id="a.b"), {"a": 1}, context) == {"a": 1, "trace": context.trace_id}


@pytest.mark.req("R-5.11.9-01", "R-5.11.9-02")
def test_the_context_is_passed_and_is_no_input():
    def f(ctx: Context, a: int) -> dict:
        return {"trace": ctx.trace_id, "a": a}

    context = Context.create()
    wrapped = FunctionModule(f, id="a.b")
    assert list(wrapped.input_schema["properties"]) == ["a"]
    assert run(wrapped, {"a": 1}, context) == {"trace": context.trace_id, "a": 1}


def test_inputs_arrive_as_the_declared_types_and_results_leave_as_json():
    def double(price: Price) -> Price:
        assert isinstance(price.amount, Decimal)
        return Price(price.amount * 2)

    assert run(FunctionModule(double, id="a.b"), {"price": {"amount": "1.50"}}) == {"amount": "3.00"}


@pytest.mark.req("R-5.11.3-01")
def test_every_option_lands_in_the_definition():
    options = {
        "description": "Adds",
        "documentation": "# Adding",
        "name": "Adder",
        "annotations": ModuleAnnotations(readonly=True),
        "tags": ("math",),
        "version": "2.1.0",
        "metadata": {"x-when-to-use": "to add"},
        "examples": (ModuleExample("One", {"a": 1}),),
        "effect": "transactional",
        "timeout_ms": 500,
    }
    definition = define_module("a.b", FunctionModule(add, id="a.b", **options))
    assert {name: getattr(definition, name) for name in options} == options


@pytest.mark.req("R-5.11.3-01", "R-5.11.7-01", "R-5.6-07")
def test_without_options_the_function_speaks_for_itself():
    definition = define_module("a.b", FunctionModule(add, id="a.b"))
    assert (definition.name, definition.description, definition.documentation) == ("add", "Add two numbers.", None)
    assert (definition.version, definition.tags, definition.examples, definition.metadata) == ("1.0.0", (), (), {})


def test_schemas_that_are_given_replace_those_of_the_hints():
    schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 5}}, "required": ["a"]}
    wrapped = FunctionModule(add, id="a.b", input_schema=schema, output_schema={})
    assert (wrapped.input_schema, wrapped.output_schema) == (schema, {})


def test_methods_partials_and_callable_objects_are_functions_too():
    class Adder:
        def __init__(self, by):
            self.by = by

        def method(self, a: int) -> dict:
            return {"sum": a + self.by}

        def __call__(self, a: int) -> dict:
            return {"sum": a + self.by}

    assert run(FunctionModule(Adder(5).method, id="a.b"), {"a": 1}) == {"sum": 6}
    assert run(FunctionModule(functools.partial(add, b=5), id="a.b"), {"a": 1}) == {"sum": 6}
    called = FunctionModule(Adder(5), id="a.b")
    assert (called.name, run(called, {"a": 1})) == ("Adder", {"sum": 6})


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"a": "2026-01-02"}, [2, "x", 1]),
        ({"a": "2026-01-02", "c": 3}, [2, "x", 3]),
        ({"a": "2026-01-02", "b": "y", "c": 3}, [2, "y", 3]),
    ],
)
def test_parameters_that_take_no_names_get_their_inputs_in_order(inputs, expected):
    def plain(a: date, b: str = "x", /, c: int = 1) -> list[Any]:
        return [a.day, b, c]

    async def later(a: date, b: str = "x", /, c: int = 1) -> list[Any]:
        return plain(a, b, c)

    assert run(FunctionModule(plain, id="a.b"), inputs) == {"result": expected}
    assert run(FunctionModule(later, id="a.b"), inputs) == {"result": expected}


def test_an_async_callable_object_is_async():
    class Later:
        async def __call__(self, a: int) -> dict:
            return {"a": a}

    assert run(module(Later(), id="a.b"), {"a": 1}) == {"a": 1}
