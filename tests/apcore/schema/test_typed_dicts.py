from typing import Annotated, Literal, NotRequired, Required, TypedDict

import pytest
import typing_extensions
from pydantic import Field, TypeAdapter

from apcore.schema import compile_schema, generate_schema_from_function, schema_document
from apcore.schema.typed_dicts import readable


class Point(TypedDict):
    """Where it is."""

    x: int
    label: NotRequired[str]


class Partial(TypedDict, total=False):
    needed: Required[Annotated[int, Field(ge=1)]]
    point: Point | None


class Node(TypedDict):
    children: "list[Node]"
    point: Point


class Modern(typing_extensions.TypedDict):
    x: int


def input_schema(annotation):
    def function(value):
        return {}

    function.__annotations__ = {"value": annotation, "return": dict}
    return generate_schema_from_function(function).input_schema


@pytest.mark.req("R-5.11.5-04")
def test_fields_are_required_as_declared():
    schema = input_schema(Point)["properties"]["value"]

    assert schema["properties"] == {"x": {"type": "integer"}, "label": {"type": "string"}}
    assert (schema["required"], schema["description"]) == (["x"], "Where it is.")
    assert input_schema(Partial)["properties"]["value"]["required"] == ["needed"]


@pytest.mark.req("R-5.11.5-04")
@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (list[Point], [{"x": 1}], [{"x": "1"}]),
        (dict[str, Point], {"a": {"x": 1}}, {"a": {}}),
        (Point | None, None, {"label": "a"}),
        (int | Point, {"x": 1}, "text"),
        (Annotated[list[Point], Field(max_length=1)], [{"x": 1}], [{"x": 1}] * 2),
        (tuple[Point, int], [{"x": 1}, 2], [{"x": 1}]),
        (Partial, {"needed": 1, "point": {"x": 1}}, {"needed": 0}),
        (Node, {"children": [{"children": [], "point": {"x": 1}}], "point": {"x": 2}}, {"children": [{}]}),
        (Modern, {"x": 1}, {"x": None}),
    ],
)
def test_wherever_it_stands_in_a_type(annotation, good, bad):
    validator = compile_schema(input_schema(annotation), strict_inputs=True)

    assert validator.is_valid({"value": good})
    assert not validator.is_valid({"value": bad})


def test_a_function_gets_what_it_declares():
    def function(value: Point) -> Point:
        return {"x": value["x"] + 1}

    schema = generate_schema_from_function(function)
    assert schema.serialise(function(**schema.bind({"value": {"x": 1}}))) == {"x": 2}


def test_a_class_is_a_schema_of_its_own():
    assert schema_document(Point)["required"] == ["x"]


@pytest.mark.parametrize("annotation", [int, list[int], Literal["a", "b"], Modern, int | str, None])
def test_other_types_stay_as_they_are(annotation):
    assert TypeAdapter(readable(annotation)).json_schema() == TypeAdapter(annotation).json_schema()
