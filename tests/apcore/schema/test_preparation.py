"""What the protocol adds to JSON Schema: nullable, strict inputs, the empty schema."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.schema import compile_schema

PERSON = {"type": "object", "properties": {"name": {"type": "string"}}}


def accepts(schema, value, *, strict=True):
    return compile_schema(schema, strict_inputs=strict).is_valid(value)


@pytest.mark.req("R-4.2-05", "R-4.9-06")
def test_declared_properties_close_an_input_object():
    assert accepts(PERSON, {"name": "a"})
    assert not accepts(PERSON, {"name": "a", "more": 1})
    assert accepts(PERSON, {"name": "a", "more": 1}, strict=False)


@pytest.mark.parametrize(
    "open_schema",
    [
        {"type": "object"},
        {**PERSON, "additionalProperties": True},
        {**PERSON, "additionalProperties": {"type": "integer"}},
        {**PERSON, "unevaluatedProperties": True},
        {**PERSON, "patternProperties": {"^more": {}}},
    ],
)
def test_what_says_something_about_other_fields_is_left_alone(open_schema):
    assert accepts(open_schema, {"name": "a", "more": 1})


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"properties": {"a": PERSON}}, {"a": {"name": "x"}}, {"a": {"more": 1}}),
        ({"items": PERSON}, [{"name": "x"}], [{"more": 1}]),
        ({"prefixItems": [PERSON]}, [{"name": "x"}], [{"more": 1}]),
        ({"additionalProperties": PERSON}, {"k": {"name": "x"}}, {"k": {"more": 1}}),
        ({"anyOf": [PERSON, {"type": "null"}]}, None, {"more": 1}),
        ({"anyOf": [PERSON, {"type": "null"}]}, {"name": "x"}, {"more": 1}),
        ({"oneOf": [PERSON, {"type": "null"}]}, {"name": "x"}, {"more": 1}),
        ({"$ref": "#/$defs/P", "$defs": {"P": PERSON}}, {"name": "x"}, {"more": 1}),
        (
            {"properties": {"a": {"$ref": "#/$defs/P"}}, "$defs": {"P": PERSON}},
            {"a": {"name": "x"}},
            {"a": {"more": 1}},
        ),
        ({"$ref": "#/$defs/Q", "$defs": {"P": PERSON, "Q": {"$ref": "#/$defs/P"}}}, {"name": "x"}, {"more": 1}),
        ({"nullable": True, "$ref": "#/$defs/P", "$defs": {"P": PERSON}}, None, {"more": 1}),
    ],
)
def test_closing_reaches_inside(schema, good, bad):
    assert accepts(schema, good)
    assert not accepts(schema, bad)
    assert accepts(schema, bad, strict=False)


AGE = {"properties": {"age": {"type": "integer"}}}


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [PERSON, AGE]},
        {**PERSON, "allOf": [AGE]},
        {**PERSON, "$ref": "#/$defs/Age", "$defs": {"Age": AGE}},
        {"allOf": [{"$ref": "#/$defs/P"}, {"$ref": "#/$defs/Age"}], "$defs": {"P": PERSON, "Age": AGE}},
        {**PERSON, "if": {"required": ["name"]}, "then": AGE},
        {**PERSON, "dependentSchemas": {"name": AGE}},
    ],
)
def test_parts_that_describe_one_object_together_do_not_exclude_each_other(schema):
    assert accepts(schema, {"name": "x", "age": 1})
    assert not accepts(schema, {"name": "x", "age": "old"})


def test_an_object_with_own_properties_is_closed_around_its_parts():
    schema = {**PERSON, "allOf": [AGE]}

    assert not accepts(schema, {"name": "x", "age": 1, "more": 1})


def test_a_definition_that_is_used_alone_and_together_stays_open():
    schema = {
        "properties": {"alone": {"$ref": "#/$defs/P"}, "together": {"allOf": [{"$ref": "#/$defs/P"}, AGE]}},
        "$defs": {"P": PERSON},
    }

    assert accepts(schema, {"alone": {"name": "x"}, "together": {"name": "x", "age": 1}})


def test_a_property_may_be_called_like_a_keyword():
    schema = {
        "properties": {"nullable": {"type": "boolean"}, "format": {"type": "string"}, "properties": {"type": "null"}}
    }

    assert accepts(schema, {"nullable": True, "format": "x", "properties": None})
    assert not accepts(schema, {"nullable": None})


@pytest.mark.req("R-5.11.5-03")
@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string"}, "a", 1),
        ({"type": ["string", "integer"]}, 1, []),
        ({"type": "string", "enum": ["a"]}, "a", "b"),
        ({"const": "a"}, "a", "b"),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "integer"}}}, 1, "a"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, 1, []),
        ({"allOf": [{"type": "string"}, {"minLength": 1}]}, "a", ""),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]}, {"a": None}, {}),
        ({"not": {"type": ["string", "null"]}}, 1, "a"),
        ({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "integer"}}, 1, []),
        ({}, 1, ...),
    ],
)
def test_nullable_adds_null_and_nothing_else(schema, good, bad):
    nullable = {"properties": {"x": {**schema, "nullable": True}}, "$defs": schema.get("$defs", {})}

    assert accepts(nullable, {"x": None})
    assert accepts(nullable, {"x": good})
    if bad is not ...:
        assert not accepts(nullable, {"x": bad})


@pytest.mark.parametrize("nullable", [False, "yes", None, 1])
def test_only_true_makes_nullable(nullable):
    assert not accepts({"properties": {"x": {"type": "string", "nullable": nullable}}}, {"x": None})


@given(
    st.recursive(
        st.just({"type": "integer"}),
        lambda inner: st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from("ab"), inner)}),
        max_leaves=6,
    )
)
def test_strict_never_accepts_more_than_lenient(schema):
    for value in ({}, {"a": 1}, {"b": {"a": 1}}, {"a": {"b": {}}, "c": 1}):
        if accepts(schema, value, strict=True):
            assert accepts(schema, value, strict=False)
