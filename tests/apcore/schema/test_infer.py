from __future__ import annotations

import asyncio
import functools
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, Optional, Required
from uuid import UUID

import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, SecretStr
from typing_extensions import TypedDict

from apcore.context import Context
from apcore.errors import (
    FuncMissingReturnTypeError,
    FuncMissingTypeHintError,
    InvalidInputError,
    ModuleExecuteError,
    SchemaValidationError,
)
from apcore.schema import compile_schema, generate_schema_from_function
from tests.apcore.strategies import json_values

if TYPE_CHECKING:
    from nowhere import Missing

    import apcore.context as later


class Colour(Enum):
    RED = "red"
    GREEN = "green"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Point:
    x: int
    y: int | None = None


class Address(BaseModel):
    street: str
    point: Point | None = None


class Tree(BaseModel):
    value: int
    kids: list[Tree] = []


class Row(TypedDict):
    name: str


def property_of(function, name="value"):
    return generate_schema_from_function(function).input_schema["properties"][name]


# --- what a signature must say


@pytest.mark.req("R-5.11.4-02", "R-5.11.11-01", "R-8.2-17")
def test_a_parameter_without_type_is_refused():
    def function(a) -> dict: ...

    with pytest.raises(FuncMissingTypeHintError, match="'a'") as caught:
        generate_schema_from_function(function)
    assert caught.value.details["parameter"] == "a"


@pytest.mark.req("R-5.11.4-03", "R-5.11.11-01", "R-8.2-18")
def test_a_missing_return_type_is_refused():
    def function(a: int): ...

    with pytest.raises(FuncMissingReturnTypeError):
        generate_schema_from_function(function)


def test_a_lambda_is_refused():
    with pytest.raises(FuncMissingTypeHintError):
        generate_schema_from_function(lambda a: {})


def test_a_field_as_default_is_refused():
    """The function itself would get the Field in place of a value."""

    def function(number: int = Field(3, ge=1)) -> dict: ...

    with pytest.raises(InvalidInputError, match="Field") as caught:
        generate_schema_from_function(function)
    assert "Annotated" in caught.value.suggestion


def test_types_that_cannot_be_resolved_are_refused():
    def parameter(a: Missing) -> dict: ...

    def returns(a: int) -> Missing: ...

    with pytest.raises(FuncMissingTypeHintError, match="'Missing' cannot be resolved"):
        generate_schema_from_function(parameter)
    with pytest.raises(FuncMissingReturnTypeError, match=r"'Missing'.* cannot be resolved"):
        generate_schema_from_function(returns)


def test_types_without_json_form_are_refused():
    class Opaque: ...

    def parameter(a: int) -> dict: ...

    parameter.__annotations__["a"] = Opaque

    def returns(a: int) -> dict: ...

    returns.__annotations__["return"] = Opaque

    with pytest.raises(FuncMissingTypeHintError, match="'a' has no JSON Schema"):
        generate_schema_from_function(parameter)
    with pytest.raises(FuncMissingReturnTypeError, match="has no JSON Schema"):
        generate_schema_from_function(returns)


def test_values_that_have_no_names_are_refused():
    def variable(*a: int) -> dict: ...

    with pytest.raises(InvalidInputError, match=r"'a' of .* stands for values without names"):
        generate_schema_from_function(variable)


def test_a_built_in_function_without_a_signature_is_refused():
    with pytest.raises(FuncMissingTypeHintError, match="'dict' does not say what its parameters are"):
        generate_schema_from_function(dict)


def test_a_parameter_that_is_given_by_position_is_an_input_like_others():
    def function(a: int, b: str = "x", /, c: int = 1) -> dict: ...

    schema = generate_schema_from_function(function)

    assert list(schema.input_schema["properties"]) == ["a", "b", "c"]
    assert schema.input_schema["required"] == ["a"]


class Options(TypedDict, total=False):
    size: Required[int]
    day: date
    note: NotRequired[str]


@pytest.mark.req("R-5.11.4-04")
@pytest.mark.parametrize("unpack", [typing.Unpack, typing_extensions.Unpack])
def test_named_options_are_inputs(unpack):
    def function(a: int, **options: int) -> dict: ...

    function.__annotations__["options"] = unpack[Options]
    schema = generate_schema_from_function(function)

    assert schema.input_schema == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "size": {"type": "integer"},
            "day": {"type": "string", "format": "date"},
            "note": {"type": "string"},
        },
        "required": ["a", "size"],
        "additionalProperties": False,
    }
    assert schema.bind({"a": 1, "size": 2, "day": "2026-01-02"}) == {"a": 1, "size": 2, "day": date(2026, 1, 2)}


@pytest.mark.parametrize("default", [float("inf"), [float("nan")], object(), {1.5: object()}])
def test_a_default_that_json_cannot_express_is_not_shown(default):
    def function(value: float = 1.0) -> dict: ...

    function.__defaults__ = (default,)
    schema = generate_schema_from_function(function).input_schema

    assert schema["properties"]["value"] == {"type": "number"}
    assert schema["required"] == []


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: int = 0


def test_a_tagged_union_refers_to_nothing_that_is_not_there():
    def function(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> dict: ...

    schema = generate_schema_from_function(function)

    assert schema.bind({"pet": {"kind": "dog"}}) == {"pet": Dog(kind="dog")}
    assert "$defs" not in str(schema.input_schema)
    assert [each["title"] for each in schema.input_schema["properties"]["pet"]["oneOf"]] == ["Cat", "Dog"]


class Sender:
    def __call__(self, to: str) -> dict:
        """Sends it.

        Args:
            to: Who gets it.
        """


class Documented(Sender):
    """Sends by post."""


def send(to: str, *, urgent: bool = False) -> dict:
    """Sends it.

    :param to: Who gets it.
    """


@pytest.mark.req("R-5.11.7-01", "R-5.11.7-02")
@pytest.mark.parametrize(
    ("function", "description"),
    [
        (functools.partial(send, urgent=True), "Sends it."),
        (functools.partial(functools.partial(send), urgent=True), "Sends it."),
        (Sender(), "Sends it."),
        (Documented(), "Sends by post."),
    ],
)
def test_partials_and_callable_objects_say_what_their_code_says(function, description):
    schema = generate_schema_from_function(function)

    assert schema.description == description
    assert schema.input_schema["properties"]["to"].get("description") in ("Who gets it.", None)


@pytest.mark.req("R-5.11.7-01")
def test_a_callable_object_without_a_word_goes_by_the_name_of_its_class():
    class PostOffice:
        def __call__(self) -> dict: ...

    assert generate_schema_from_function(PostOffice()).description == "PostOffice"


# --- the schema of the inputs


@pytest.mark.req("R-5.11.4-01", "R-5.11.4-04")
def test_parameters_become_properties_in_their_order():
    def function(b: int, a: str = "x", *, c: float, d: bool = True) -> dict: ...

    schema = generate_schema_from_function(function).input_schema

    assert list(schema["properties"]) == ["b", "a", "c", "d"]
    assert schema["required"] == ["b", "c"]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False


@pytest.mark.req("R-5.11.4-01", "R-5.11.1-01")
def test_self_and_cls_are_no_inputs():
    class Service:
        def send(self, to: str) -> dict: ...

        @classmethod
        def make(cls, to: str) -> dict: ...

        def __call__(self, to: str) -> dict: ...

    for function in (Service.send, Service().send, Service.make, Service()):
        assert list(generate_schema_from_function(function).input_schema["properties"]) == ["to"]


@pytest.mark.req("R-5.11.9-02", "R-5.11.4-01")
def test_the_context_is_no_input_whatever_it_is_called():
    def plain(ctx: Context, a: int) -> dict: ...

    def optional(a: int, context: Context | None = None) -> dict: ...

    def late(a: int, context: later.Context) -> dict: ...

    def quoted(a: int, context: later.Context | None = None) -> dict: ...

    for function, name in ((plain, "ctx"), (optional, "context"), (late, "context"), (quoted, "context")):
        schema = generate_schema_from_function(function)
        assert schema.context_parameter == name
        assert list(schema.input_schema["properties"]) == ["a"]


def test_without_context_parameter_there_is_none():
    def function(context: str) -> dict: ...

    assert generate_schema_from_function(function).context_parameter is None
    assert "context" in generate_schema_from_function(function).input_schema["properties"]


@pytest.mark.req("R-5.11.5-01", "R-5.11.5-02", "R-5.11.5-03", "R-5.11.5-05")
@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array"}),
        (dict, {"type": "object"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (dict[str, Any], {"type": "object", "additionalProperties": True}),
        (
            list[dict[str, list[str]]],
            {
                "type": "array",
                "items": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
            },
        ),
        (Optional[str], {"type": "string", "nullable": True}),  # noqa: UP045 - the older way to write it
        (int | None, {"type": "integer", "nullable": True}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (int | str | None, {"anyOf": [{"type": "integer"}, {"type": "string"}], "nullable": True}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1], {"type": "integer", "enum": [1]}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Colour, {"type": "string", "enum": ["red", "green"]}),
        (Level, {"type": "integer", "enum": [1, 2]}),
        (Literal[Colour.RED], {"type": "string", "enum": ["red"]}),
        (Annotated[Literal["a"], Field(description="b")], {"type": "string", "enum": ["a"], "description": "b"}),
        (date, {"type": "string", "format": "date"}),
        (UUID | None, {"type": "string", "format": "uuid", "nullable": True}),
        (SecretStr, {"type": "string", "format": "password", "writeOnly": True}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        ),
        (set[int], {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}),
    ],
)
def test_types(annotation, schema):
    def function(value: int) -> dict: ...

    function.__annotations__["value"] = annotation

    assert property_of(function) == schema


@pytest.mark.req("R-5.11.5-04")
@pytest.mark.parametrize("annotation", [Address, Point, Row])
def test_models_and_dataclasses_are_objects_with_properties(annotation):
    def function(value: int) -> dict: ...

    function.__annotations__["value"] = annotation
    schema = property_of(function)

    assert schema["type"] == "object"
    assert set(schema["properties"]) == set(annotation.__annotations__)


def test_a_tree_is_a_definition():
    def function(value: Tree) -> dict: ...

    schema = generate_schema_from_function(function)

    assert schema.input_schema["properties"]["value"] == {"$ref": "#/$defs/Tree"}
    compile_schema(schema.input_schema, strict_inputs=True).validate({"value": {"value": 1, "kids": [{"value": 2}]}})
    assert schema.bind({"value": {"value": 1, "kids": [{"value": 2}]}}) == {
        "value": Tree(value=1, kids=[Tree(value=2)])
    }


@pytest.mark.req("R-5.11.5-05")
@pytest.mark.parametrize("annotation", [Literal["red", "green"], Colour])
def test_a_value_outside_of_an_enumeration_is_refused(annotation):
    def function(value) -> dict: ...

    function.__annotations__["value"] = annotation
    validator = compile_schema(generate_schema_from_function(function).input_schema, strict_inputs=True)
    assert validator.is_valid({"value": "red"})
    assert not validator.is_valid({"value": "blue"})


@pytest.mark.req("R-5.11.4-05", "R-5.11.5-06")
def test_constraints_come_from_annotated():
    def function(
        a: Annotated[int, Field(ge=1, le=3)] = 2,
        b: Annotated[str, Field(max_length=9, description="text", json_schema_extra={"x-sensitive": True})] = "",
    ) -> dict: ...

    assert generate_schema_from_function(function).input_schema["properties"] == {
        "a": {"type": "integer", "minimum": 1, "maximum": 3, "default": 2},
        "b": {"type": "string", "maxLength": 9, "description": "text", "x-sensitive": True, "default": ""},
    }


@pytest.mark.req("R-5.11.4-05")
@pytest.mark.parametrize(
    ("annotation", "default", "shown"),
    [
        (int, 1, 1),
        (int | None, None, None),
        (list[int], [1], [1]),
        (Colour, Colour.RED, "red"),
        (Level, Level.HIGH, 2),
        (date, date(2024, 2, 29), "2024-02-29"),
        (Decimal, Decimal("1.50"), "1.50"),
        (Point, Point(1), {"x": 1, "y": None}),
    ],
)
def test_defaults_are_shown_in_json(annotation, default, shown):
    def function(value: int = 0) -> dict: ...

    function.__annotations__["value"] = annotation
    function.__defaults__ = (default,)

    assert property_of(function)["default"] == shown
    assert generate_schema_from_function(function).input_schema["required"] == []


def test_a_default_that_only_python_knows_is_not_shown():
    def function(value: int = object()) -> dict: ...

    assert property_of(function) == {"type": "integer"}


@pytest.mark.req("R-5.11.4-06", "R-5.11.7-01", "R-5.11.7-02")
def test_texts_come_from_the_docstring_and_field_wins():
    def function(a: int, b: Annotated[int, Field(description="from field")]) -> dict:
        """Does it.

        In detail.

        Args:
            a: from docstring
            b: from docstring
        """

    schema = generate_schema_from_function(function)

    assert schema.description == "Does it."
    assert schema.documentation.startswith("In detail.")
    assert schema.input_schema["properties"]["a"]["description"] == "from docstring"
    assert schema.input_schema["properties"]["b"]["description"] == "from field"


@pytest.mark.req("R-5.11.7-01")
def test_for_want_of_a_docstring_the_name_is_spoken():
    def send_welcome_mail() -> dict: ...

    assert generate_schema_from_function(send_welcome_mail).description == "Send welcome mail"


def test_further_named_inputs_have_a_type_too():
    def function(a: int, **days: date) -> dict: ...

    schema = generate_schema_from_function(function)

    assert schema.input_schema["additionalProperties"] == {"type": "string", "format": "date"}
    assert list(schema.input_schema["properties"]) == ["a"]
    assert schema.bind({"a": 1, "b": "2024-02-29"}) == {"a": 1, "b": date(2024, 2, 29)}


def test_partial_and_wrapped_functions_are_seen_through():
    def function(a: int, b: str) -> dict: ...

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        return function(*args, **kwargs)

    assert generate_schema_from_function(wrapped).input_schema == generate_schema_from_function(function).input_schema
    assert generate_schema_from_function(functools.partial(function, b="x")).input_schema["required"] == ["a"]


# --- arguments


@pytest.mark.parametrize(
    ("annotation", "given_value", "argument"),
    [
        (date, "2024-02-29", date(2024, 2, 29)),
        (datetime, "2024-02-29T12:00:00", datetime(2024, 2, 29, 12)),
        (Decimal, "1.50", Decimal("1.50")),
        (Decimal, 1.5, Decimal("1.5")),
        (UUID, "123e4567-e89b-12d3-a456-426614174000", UUID("123e4567-e89b-12d3-a456-426614174000")),
        (Colour, "red", Colour.RED),
        (Level, 2, Level.HIGH),
        (Point, {"x": 1}, Point(1)),
        (Address, {"street": "a", "point": {"x": 1}}, Address(street="a", point=Point(1))),
        (Address | None, None, None),
        (tuple[int, ...], [1, 2], (1, 2)),
        (set[str], ["a"], {"a"}),
        (list[date], ["2024-02-29"], [date(2024, 2, 29)]),
        (Row, {"name": "x"}, {"name": "x"}),
        (int, 1.0, 1),
        (Annotated[int, Field(ge=1)], 1.0, 1),
        (list[int], [1.0, 2], [1, 2]),
        (dict[str, list[int]], {"a": [1.0]}, {"a": [1]}),
        (list[int | None] | None, [None, 2.0], [None, 2]),
        (list[int] | None, None, None),
        (list[float], [1, 2.0], [1, 2.0]),
        (float, 1, 1),
    ],
)
def test_arguments_have_the_declared_types(annotation, given_value, argument):
    def function(value: int) -> dict: ...

    function.__annotations__["value"] = annotation
    schema = generate_schema_from_function(function)
    compile_schema(schema.input_schema).validate({"value": given_value})

    bound = schema.bind({"value": given_value})

    assert bound == {"value": argument}
    assert type(bound["value"]) is type(argument)
    assert not isinstance(argument, list | dict) or repr(bound["value"]) == repr(argument)


def test_further_inputs_have_the_declared_type():
    def function(**counts: int) -> dict: ...

    assert repr(generate_schema_from_function(function).bind({"a": 1.0})) == "{'a': 1}"


def test_a_type_may_describe_itself_with_several_kinds():
    def function(a: Annotated[list[int], Field(json_schema_extra={"type": ["array", "null"]})]) -> dict: ...

    schema = generate_schema_from_function(function)

    assert schema.input_schema["properties"]["a"]["type"] == ["array", "null"]
    assert schema.bind({"a": None}) == {"a": None}


def test_missing_inputs_are_left_to_the_defaults_of_the_function():
    def function(a: date = date(2024, 1, 1), b: int = 1) -> dict: ...

    assert generate_schema_from_function(function).bind({}) == {}


@pytest.mark.parametrize(
    "annotation", [int, str, float, bool, dict, list, list[str], Annotated[str, Field(max_length=9)], Any]
)
@given(value=json_values)
def test_plain_types_cost_nothing(annotation, value):
    def function(value: int) -> dict: ...

    function.__annotations__["value"] = annotation
    inputs = {"value": value}
    if not (type(value) is float and annotation is int):
        assert generate_schema_from_function(function).bind(inputs) is inputs


def test_binding_changes_no_inputs():
    def function(a: date, b: int) -> dict: ...

    inputs = {"a": "2024-02-29", "b": 2.0}
    assert generate_schema_from_function(function).bind(inputs) == {"a": date(2024, 2, 29), "b": 2}
    assert inputs == {"a": "2024-02-29", "b": 2.0}


def refuse_secrets(value: str) -> str:
    if "hunter2" in value:
        raise ValueError("too well known")
    return value.strip()


def test_what_only_the_type_can_refuse_is_a_validation_error():
    def function(value: Annotated[str, AfterValidator(refuse_secrets)]) -> dict: ...

    schema = generate_schema_from_function(function)
    assert schema.bind({"value": " a "}) == {"value": "a"}
    with pytest.raises(SchemaValidationError) as caught:
        schema.bind({"value": "hunter2"})

    assert caught.value.errors == [
        {"path": "/value", "message": "Value error, too well known", "constraint": "value_error"}
    ]
    assert "hunter2" not in repr(caught.value.to_dict())


# --- results


@pytest.mark.req("R-5.11.4-07")
@pytest.mark.parametrize(
    ("annotation", "result", "output"),
    [
        (dict, {"a": 1}, {"a": 1}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (dict[str, Decimal], {"a": Decimal("1.5")}, {"a": "1.5"}),
        (Mapping[str, date], {"a": date(2024, 1, 1)}, {"a": "2024-01-01"}),
        (Point, Point(1), {"x": 1, "y": None}),
        (Address, Address(street="a"), {"street": "a", "point": None}),
        (Tree, Tree(value=1), {"value": 1, "kids": []}),
        (Row, {"name": "x"}, {"name": "x"}),
        (int, 7, {"result": 7}),
        (None, None, {"result": None}),
        (list[Point], [Point(1)], {"result": [{"x": 1, "y": None}]}),
        (date | None, None, {"result": None}),
        (dict | None, None, {"result": None}),
        (Colour, Colour.RED, {"result": "red"}),
        (Any, [1], {"result": [1]}),
    ],
)
def test_results_become_objects_that_fit_the_output_schema(annotation, result, output):
    def function() -> int: ...

    function.__annotations__["return"] = annotation
    schema = generate_schema_from_function(function)

    assert schema.serialise(result) == output
    compile_schema(schema.output_schema).validate(output)
    assert schema.output_schema["type"] == "object"


@pytest.mark.req("R-5.11.4-07")
def test_output_schema_of_a_model_is_its_object_schema():
    def function() -> Address: ...

    schema = generate_schema_from_function(function).output_schema
    assert (schema["title"], set(schema["properties"])) == ("Address", {"street", "point"})


def test_output_schema_of_a_number_has_one_property():
    def function() -> int: ...

    assert generate_schema_from_function(function).output_schema == {
        "type": "object",
        "properties": {"result": {"type": "integer"}},
        "required": ["result"],
    }


@pytest.mark.parametrize("annotation", [dict, Point, dict[str, date]])
@pytest.mark.parametrize("result", [None, [], 7, "x"])
def test_what_is_declared_as_an_object_must_be_one(annotation, result):
    def function() -> dict: ...

    function.__annotations__["return"] = annotation

    with pytest.raises(ModuleExecuteError, match="Return value"):
        generate_schema_from_function(function).serialise(result)


def test_a_plain_dict_is_not_copied():
    def function() -> dict: ...

    result = {"a": 1}
    assert generate_schema_from_function(function).serialise(result) is result


def test_what_has_no_json_form_is_refused():
    def function() -> dict[str, date]: ...

    with pytest.raises(ModuleExecuteError, match="cannot be expressed in JSON"):
        generate_schema_from_function(function).serialise({"a": object()})


def test_asynchronous_functions_are_described_alike():
    async def function(a: int) -> Point:
        return Point(a)

    schema = generate_schema_from_function(function)

    assert set(schema.output_schema["properties"]) == {"x", "y"}
    assert schema.serialise(asyncio.run(function(**schema.bind({"a": 1})))) == {"x": 1, "y": None}


@pytest.mark.req("R-5.11.4-08")
@given(st.integers(), st.text())
def test_bound_arguments_fit_the_function(a, b):
    def function(a: int, b: str = "x") -> dict:
        return {"a": a, "b": b}

    schema = generate_schema_from_function(function)

    assert schema.serialise(function(**schema.bind({"a": a, "b": b}))) == {"a": a, "b": b}


def quoting(value: str) -> str:
    raise ValueError(f"{value} is too short")


def test_the_words_of_a_validator_are_dropped_where_something_is_sensitive():
    def sign_in(
        password: Annotated[str, Field(json_schema_extra={"x-sensitive": True}), AfterValidator(quoting)],
    ) -> dict:
        return {}

    def rename(name: Annotated[str, AfterValidator(quoting)]) -> dict:
        return {}

    with pytest.raises(SchemaValidationError) as caught:
        generate_schema_from_function(sign_in).bind({"password": "hunter2"})
    assert "hunter2" not in f"{caught.value} {caught.value.to_dict()} {caught.value.__cause__}"
    assert caught.value.errors == [{"path": "/password", "message": "is not valid", "constraint": "value_error"}]
    with pytest.raises(SchemaValidationError, match="ada is too short"):
        generate_schema_from_function(rename).bind({"name": "ada"})
