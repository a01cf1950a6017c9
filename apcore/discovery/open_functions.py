"""Functions as modules where their annotations say less than a schema needs (§5.12.2, §5.14.4, C-50)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any, Final

from apcore.context import Context
from apcore.schema import FunctionSchema, generate_schema_from_function, read_docstring, spoken

OPEN_OBJECT: Final[Mapping[str, Any]] = {"type": "object"}
CONTEXT_NAMES: Final = ("context", "ctx")


def open_result(result: Any) -> dict[str, Any]:
    """A result of which nothing is declared: an object as it is, anything else under `result` (C-47)."""
    return dict(result) if isinstance(result, Mapping) else {"result": result}


def open_schema(function: Callable[..., Any]) -> FunctionSchema:
    """The conversions of a function without annotations: inputs and result pass as they are, all is allowed."""
    parameters = inspect.signature(function).parameters
    docstring = read_docstring(function)
    return FunctionSchema(
        input_schema=dict(OPEN_OBJECT),
        output_schema=dict(OPEN_OBJECT),
        description=docstring.summary or spoken(getattr(function, "__name__", type(function).__name__)),
        documentation=docstring.body,
        context_parameter=next((name for name in CONTEXT_NAMES if name in parameters), None),
        bind=lambda inputs: inputs,
        serialise=open_result,
        has_positional_only=any(each.kind is each.POSITIONAL_ONLY for each in parameters.values()),
    )


def command_schema(function: Callable[..., Any]) -> FunctionSchema:
    """As `generate_schema_from_function`, but `ctx` is the context, and without a return annotation all is allowed.

    Raises FuncMissingTypeHintError for another parameter without annotation.
    """
    written = inspect.unwrap(function)
    hints = inspect.get_annotations(written)
    if "ctx" in inspect.signature(written).parameters:
        hints["ctx"] = Context
    if "return" in hints:
        return _plain_inputs(generate_schema_from_function(_annotated(written, hints)))
    schema = generate_schema_from_function(_annotated(written, {**hints, "return": dict}))
    return replace(_plain_inputs(schema), serialise=open_result)


def _plain_inputs(schema: FunctionSchema) -> FunctionSchema:
    """Without `additionalProperties: false`, as §5.14.6 shows it; where inputs are strict, others are refused anyway
    (C-23), and elsewhere the function does not get them.
    """
    if schema.input_schema["additionalProperties"] is not False:
        return schema
    inputs = {keyword: value for keyword, value in schema.input_schema.items() if keyword != "additionalProperties"}
    names = inputs["properties"].keys()

    def bind(given: dict[str, Any]) -> dict[str, Any]:
        return schema.bind(given if given.keys() <= names else {name: given[name] for name in names & given.keys()})

    return replace(schema, input_schema=inputs, bind=bind)


def without_self(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, or one that gives None for a first parameter `self`, which a plain function has no use for."""
    first = next(iter(inspect.signature(function).parameters), None)
    return functools.partial(function, None) if first == "self" else function


def _annotated(function: Callable[..., Any], hints: Mapping[str, Any]) -> Callable[..., Any]:
    """A copy of the function with other annotations, which is read and never called."""
    assert isinstance(function, FunctionType)
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__annotations__ = dict(hints)
    copy.__doc__, copy.__qualname__, copy.__module__ = function.__doc__, function.__qualname__, function.__module__
    return copy
