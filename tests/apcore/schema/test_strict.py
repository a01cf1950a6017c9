from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import InvalidInputError, SchemaParseError
from apcore.schema import check_schema, compile_schema, express_nullable, to_strict_schema
from apcore.schema.walk import all_schemas

SAMPLE = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "description": "Recipient email", "x-examples": ["user@example.com"]},
        "cc": {"type": "array", "items": {"type": "string"}, "description": "CC list", "default": []},
    },
    "required": ["to"],
}
INNER = {"type": "object", "properties": {"a": {"type": "string", "default": "x", "x-own": 1}}}
CLOSED = {
    "type": "object",
    "properties": {"a": {"type": ["string", "null"]}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.req("R-4.16-08", "R-4.16-02", "R-4.16-03", "R-4.16-04")
def test_the_documented_sample():
    assert to_strict_schema(SAMPLE) == {
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": "Recipient email"},
            "cc": {"type": ["array", "null"], "items": {"type": "string"}, "description": "CC list"},
        },
        "required": ["to", "cc"],
        "additionalProperties": False,
    }


@pytest.mark.req("R-4.16-01", "R-4.16-07")
@pytest.mark.parametrize(
    "place",
    [
        lambda inner: {"properties": {"p": inner}, "required": ["p"]},
        lambda inner: {"items": inner},
        lambda inner: {"prefixItems": [inner]},
        lambda inner: {"anyOf": [inner, {"type": "null"}]},
        lambda inner: {"oneOf": [inner]},
        lambda inner: {"allOf": [inner]},
        lambda inner: {"$defs": {"inner": inner}},
        lambda inner: {"definitions": {"inner": inner}},
    ],
)
def test_every_object_is_closed_wherever_it_stands(place):
    strict = to_strict_schema({"type": "array", "items": place(INNER)})

    assert CLOSED in list(all_schemas(strict))
    assert INNER not in list(all_schemas(strict))


@pytest.mark.req("R-4.16-05", "R-4.16-06")
def test_words_go_and_properties_of_their_name_stay():
    schema = {
        "type": "object",
        "x-own": 1,
        "default": {},
        "properties": {"default": {"type": "string", "default": "a"}, "x-own": {"type": "string", "x-sensitive": True}},
        "required": ["default", "x-own"],
    }

    assert to_strict_schema(schema)["properties"] == {"default": {"type": "string"}, "x-own": {"type": "string"}}
    assert not {"x-own", "default"} & to_strict_schema(schema).keys()


@pytest.mark.req("R-4.16-09")
def test_the_given_schema_stays_as_it_was():
    before = deepcopy(SAMPLE)
    to_strict_schema(SAMPLE)["properties"]["cc"]["items"]["type"] = "null"
    assert before == {**SAMPLE, "properties": before["properties"]}
    assert to_strict_schema(SAMPLE) == to_strict_schema(before)


@pytest.mark.req("R-4.16-03", "R-4.16-10")
@pytest.mark.parametrize(
    ("field", "strict"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"enum": ["a"]}, {"enum": ["a", None]}),
        ({"enum": ["a", None]}, {"enum": ["a", None]}),
        ({"type": "string", "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"const": "a"}, {"enum": ["a", None]}),
        ({"anyOf": [{"type": "string"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"$ref": "#/$defs/a", "title": "A"}, {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}], "title": "A"}),
        ({"oneOf": [{"type": "string"}]}, {"anyOf": [{"oneOf": [{"type": "string"}]}, {"type": "null"}]}),
        ({}, {}),
        (True, True),
        (False, {"type": "null"}),
    ],
)
def test_what_was_optional_takes_null(field, strict):
    schema = to_strict_schema({"type": "object", "properties": {"f": field}, "$defs": {"a": {"type": "string"}}})

    assert schema["properties"]["f"] == strict
    assert compile_schema(schema).is_valid({"f": None})


@pytest.mark.req("R-4.16-04")
def test_what_was_required_takes_null_only_if_it_did():
    schema = {
        "properties": {"a": {"type": "string"}, "b": {"type": "string", "nullable": True}},
        "required": ["a", "b"],
    }

    assert to_strict_schema(schema)["properties"] == {"a": {"type": "string"}, "b": {"type": ["string", "null"]}}


@pytest.mark.req("R-4.15-03", "R-4.16-01")
def test_the_empty_schema_is_the_empty_object():
    assert to_strict_schema({}) == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


FIELDS = st.recursive(
    st.sampled_from(
        [{"type": "string"}, {"enum": ["a", 1]}, {"type": "integer", "default": 1}, {"x-own": 1}, {"const": "a"}]
    ),
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda forms: {"anyOf": forms}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(
            lambda fields, required: {"type": "object", "properties": fields, "required": [*fields][:required]},
            st.dictionaries(st.sampled_from(["a", "default", "x-b"]), inner, max_size=3),
            st.integers(0, 3),
        ),
    ),
    max_leaves=6,
)


@pytest.mark.req("R-4.16-01", "R-4.16-02", "R-4.16-05", "R-4.16-06")
@given(FIELDS)
def test_the_requirements_of_strict_mode_hold_everywhere(schema):
    strict = to_strict_schema({"type": "array", "items": schema})

    for each in all_schemas(strict):
        assert "default" not in each
        assert not any(keyword.startswith("x-") for keyword in each)
        if "properties" in each:
            assert each["additionalProperties"] is False
            assert each["required"] == list(each["properties"])
    assert to_strict_schema(strict) == strict


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "nullable": True, "default": None}, {"type": ["string", "null"], "default": None}),
        (
            {"$ref": "#/$defs/A", "nullable": True, "default": None, "x-sensitive": True},
            {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "default": None, "x-sensitive": True},
        ),
        ({"items": {"enum": ["a"], "nullable": True}}, {"items": {"enum": ["a", None]}}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        ({"properties": {"nullable": {"type": "string"}}}, {"properties": {"nullable": {"type": "string"}}}),
        ({"enum": [{"nullable": True}]}, {"enum": [{"nullable": True}]}),
    ],
)
def test_nullable_is_expressed_in_the_words_of_the_draft(schema, expected):
    before = deepcopy(schema)

    assert express_nullable(schema) == expected
    assert schema == before


@pytest.mark.parametrize("value", [5, "a", ["a"], True])
def test_what_is_no_object_is_refused(value):
    with pytest.raises(InvalidInputError, match="schema must be an object"):
        to_strict_schema(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": True},
        {"properties": {"a": {"enum": True}}},
        {"properties": {"a": {"anyOf": 5}}},
        {"properties": {"a": 5}, "required": True},
        {"properties": {"a": {"nullable": True, "enum": "b"}}},
    ],
)
def test_what_is_wrong_in_a_schema_is_left_to_who_checks_it(schema):
    with pytest.raises(SchemaParseError):
        check_schema(to_strict_schema(schema))
