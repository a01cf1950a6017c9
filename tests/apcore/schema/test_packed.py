"""A declared schema is checked when it is packed, and unpacking gives a document that nobody else holds."""

from collections import OrderedDict, UserDict
from collections.abc import Callable
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import ModuleError, SchemaNotFoundError, SchemaParseError
from apcore.schema import check_schema, compile_schema, pack_schema, schema_document, unpack_schema

INTEGER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3) | st.tuples(inner),
    max_leaves=6,
)


class Text(str):
    """A text that is more than a text."""


SOME_KEYWORDS = st.sampled_from(
    [
        *("type", "properties", "items", "required", "enum", "minimum", "maxLength", "anyOf", "not", "format", "x-own"),
        *("pattern", "patternProperties", "$ref", "$defs", "default", "multipleOf", "dependentRequired", "nullable"),
    ]
)
SCHEMAS = st.recursive(
    VALUES | st.sampled_from(["string", "object", ["a"], "#", "(", float("nan"), {1}, b"", "\ud800"]),
    lambda inner: st.dictionaries(SOME_KEYWORDS | st.integers(), inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=6,
)


class Kind(IntEnum):
    LARGE = 2


def document_of(source: Any) -> dict[str, Any]:
    return unpack_schema(pack_schema(source))


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "nonsense"},
        {"type": 1},
        {"default": {1, 2}},
        {"default": b"bytes"},
        {"default": float("nan")},
        {"default": [Text("t"), float("nan")]},
        {"x-own": float("inf")},
        {"pattern": "("},
        {"patternProperties": {"(": {}}},
        {"type": "\ud800"},
        {"properties": {"a": {"$ref": "#/nowhere"}}},
        {"multipleOf": 0},
        {"required": ["a", "a"]},
        {"default": None, "minLength": -1},
    ],
)
def test_what_is_no_schema_is_refused_every_time(wrong: dict[str, Any]) -> None:
    for _ in range(2):
        with pytest.raises((SchemaParseError, SchemaNotFoundError)):
            pack_schema(wrong)


@pytest.mark.parametrize("wrong", [{"type": "array"}, {"type": ["string", "null"]}, int, list])
def test_inputs_and_outputs_are_objects(wrong: Any) -> None:
    with pytest.raises(SchemaParseError, match="are objects"):
        pack_schema(wrong)
    assert document_of({"type": ["object", "null"]})


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


def test_a_schema_that_holds_itself_or_has_too_many_levels_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["default"] = endless
    for wrong in (endless, UserDict(default=endless), nested(300), nested(900), nested(3_000)):
        with pytest.raises(SchemaParseError, match=r"levels|limit"):
            pack_schema(wrong)
    assert document_of(nested(50)) == nested(50)


def test_equal_schemas_take_the_room_of_one() -> None:
    assert pack_schema(INTEGER) is pack_schema({**INTEGER})


def test_who_changes_a_document_changes_no_other() -> None:
    packed = pack_schema(INTEGER)
    unpack_schema(packed)["properties"]["n"]["type"] = "string"
    assert unpack_schema(packed) == INTEGER == document_of(INTEGER)


def test_who_changes_the_source_afterwards_changes_nothing() -> None:
    source: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
    packed = pack_schema(source)
    source["properties"]["n"]["type"] = "string"
    assert unpack_schema(packed)["properties"]["n"]["type"] == "integer"
    assert document_of(source)["properties"]["n"]["type"] == "string"


def test_equal_is_not_the_same_where_json_tells_them_apart() -> None:
    assert document_of({"default": 1})["default"] is not True
    assert document_of({"default": True})["default"] is True
    assert type(document_of({"default": 1.0})["default"]) is float


@pytest.mark.parametrize("source", [None, MappingProxyType(INTEGER), OrderedDict(INTEGER), {"title": Text("t")}])
def test_what_is_no_plain_dictionary_is_read_all_the_same(source: Any) -> None:
    assert document_of(source) == schema_document(source)


def test_what_stands_for_plain_data_is_plain_afterwards() -> None:
    document = document_of(
        {"title": Text("t"), "default": Kind.LARGE, "properties": MappingProxyType({"b": {}, "a": {}})}
    )
    assert type(document["title"]) is str
    assert type(document["default"]) is int
    assert list(document["properties"]) == ["b", "a"]


def test_the_order_of_properties_is_the_author_s() -> None:
    assert list(document_of({"properties": {"b": {}, "a": {}}})["properties"]) == ["b", "a"]


@given(default=VALUES)
def test_the_document_is_the_one_of_the_two_steps(default: Any) -> None:
    source = {"type": "object", "default": default}
    expected = schema_document(source)
    check_schema(expected)
    assert document_of(source) == expected


@given(schema=st.dictionaries(SOME_KEYWORDS, SCHEMAS, max_size=3))
def test_the_short_way_accepts_nothing_that_cannot_be_compiled(schema: dict[Any, Any]) -> None:
    assert refusal(check_schema, schema) == refusal(compile_schema, schema)


def refusal(step: Callable[[Any], object], schema: dict[Any, Any]) -> type[ModuleError] | None:
    try:
        step(schema)
    except ModuleError as error:
        return type(error)
    return None
