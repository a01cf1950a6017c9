"""Functions as modules: schemas from the signature, arguments from JSON, JSON from the result (§5.11)."""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apcore.errors import FuncMissingReturnTypeError, FuncMissingTypeHintError, SchemaParseError
from apcore.schema.canonical import canonical_json
from apcore.schema.conversion import RESULT_KEY, make_binder, make_serialiser
from apcore.schema.hints import FunctionHints, ParameterHint, read_docstring, read_hints
from apcore.schema.plain_types import TypeDescription
from apcore.schema.refs import References, inline_definitions
from apcore.schema.types import describe_types, pydantic_types

# The name under which the type of further named inputs (**options: T) is described.
_FURTHER = "**"


@dataclass(frozen=True, slots=True)
class FunctionSchema:
    """What a signature says.

    ``bind(inputs)`` gives the keyword arguments for validated inputs, as the declared Python types; it raises
    ``SchemaValidationError`` for what only the type itself can refuse, and may return ``inputs`` itself.
    ``serialise(result)`` gives the output as JSON data and raises ``ModuleExecuteError`` if it is no object.
    ``has_positional_only`` tells that the function does not take all of its inputs by name.
    """

    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    description: str
    documentation: str
    context_parameter: str | None
    bind: Callable[[dict[str, Any]], dict[str, Any]]
    serialise: Callable[[Any], dict[str, Any]]
    has_positional_only: bool = False


def generate_schema_from_function(
    callable: Callable[..., Any],  # noqa: A002 - the protocol's name
) -> FunctionSchema:
    """Schemas, description and conversions of a function or method (§5.11.4).

    A return type that is not an object is put under the key ``result``. Raises ``FuncMissingTypeHintError``,
    ``FuncMissingReturnTypeError``, and ``InvalidInputError`` for ``*args``, which have no names.
    """
    hints = read_hints(callable)
    docstring = read_docstring(callable)
    inputs, input_definitions = _describe_inputs(hints)
    output, output_definitions = _describe_output(hints)
    is_object = _is_object(output.schema, output_definitions)
    further = inputs.pop(_FURTHER, None)
    return FunctionSchema(
        input_schema=inline_definitions(
            _input_schema(hints, inputs, further, docstring.parameters) | input_definitions
        ),
        output_schema=inline_definitions(_output_schema(output.schema, is_object=is_object) | output_definitions),
        description=docstring.summary or spoken(hints.name),
        documentation=docstring.body,
        context_parameter=hints.context_parameter,
        bind=make_binder(inputs, further),
        serialise=make_serialiser(output.dump, is_object=is_object),
        has_positional_only=hints.has_positional_only,
    )


def _describe_inputs(hints: FunctionHints) -> tuple[dict[str, TypeDescription], dict[str, Any]]:
    annotations = {parameter.name: parameter.annotation for parameter in hints.parameters}
    if hints.further is not inspect.Parameter.empty:
        annotations[_FURTHER] = hints.further
    try:
        return describe_types(annotations)
    except SchemaParseError as error:
        raise FuncMissingTypeHintError(f"'{hints.name}': {error.message}", details=error.details) from error


def _describe_output(hints: FunctionHints) -> tuple[TypeDescription, dict[str, Any]]:
    try:
        described, definitions = describe_types({"return": hints.returns}, output=True)
    except SchemaParseError as error:
        raise FuncMissingReturnTypeError(f"'{hints.name}': {error.message}", details=error.details) from error
    return described["return"], definitions


def _input_schema(
    hints: FunctionHints,
    inputs: Mapping[str, TypeDescription],
    further: TypeDescription | None,
    texts: Mapping[str, str],
) -> dict[str, Any]:
    properties = {
        parameter.name: _property(inputs[parameter.name].schema, parameter, texts.get(parameter.name))
        for parameter in hints.parameters
    }
    return {
        "type": "object",
        "properties": properties,
        "required": [each.name for each in hints.parameters if each.default is inspect.Parameter.empty],
        "additionalProperties": further.schema if further else False,
    }


def _property(schema: dict[str, Any], parameter: ParameterHint, text: str | None) -> dict[str, Any]:
    described = {"description": text, **schema} if text else dict(schema)
    if parameter.default is not inspect.Parameter.empty:
        # a default that only Python knows (a sentinel) is simply not shown
        with contextlib.suppress(SchemaParseError):
            described["default"] = _as_json(parameter.default)
    return described


def _output_schema(schema: dict[str, Any], *, is_object: bool) -> dict[str, Any]:
    if is_object:
        return {"type": "object", **schema}
    return {"type": "object", "properties": {RESULT_KEY: schema}, "required": [RESULT_KEY]}


def _is_object(schema: dict[str, Any], definitions: dict[str, Any]) -> bool:
    described = {**schema, **definitions}
    target = References(described).target_of(described) or schema
    return target.get("type") == "object" and not schema.get("nullable")


def _as_json(default: Any) -> Any:
    try:
        return json.loads(canonical_json(default))
    except (TypeError, ValueError):
        return pydantic_types().to_json(default)


def spoken(function_name: str) -> str:
    """A description from the name of a function, for want of a better one (§5.11.7)."""
    words = function_name.rpartition(".")[2].strip("_").replace("_", " ")
    return words[:1].upper() + words[1:]
