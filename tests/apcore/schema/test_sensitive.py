import copy

import pytest
from hypothesis import given

from apcore.schema import REDACTED_VALUE, compile_schema, mask_sensitive
from tests.apcore.strategies import json_values

MARK = {"x-sensitive": True}
R = REDACTED_VALUE


@pytest.mark.req("R-10.6-03", "R-10.6-04", "R-10.6-05", "R-10.6-06", "R-10.6-08")
@pytest.mark.parametrize(
    ("schema", "value", "masked"),
    [
        ({"properties": {"p": MARK}}, {"p": "x", "q": "y"}, {"p": R, "q": "y"}),
        ({"properties": {"p": MARK}}, {"p": 1234}, {"p": R}),
        ({"properties": {"p": MARK}}, {"p": False}, {"p": R}),
        ({"properties": {"p": MARK}}, {"p": {"a": 1}}, {"p": R}),
        ({"properties": {"p": MARK}}, {"p": None}, {"p": None}),
        ({"properties": {"p": MARK}}, {}, {}),
        ({"properties": {"p": {"format": "password"}}}, {"p": "x"}, {"p": R}),
        ({"properties": {"p": {"x-sensitive": "yes"}}}, {"p": "x"}, {"p": "x"}),
        ({"properties": {"u": {"properties": {"p": MARK}}}}, {"u": {"p": "x"}}, {"u": {"p": R}}),
        ({"properties": {"t": {"items": MARK}}}, {"t": ["a", None, "b"]}, {"t": [R, None, R]}),
        ({"properties": {"t": {"prefixItems": [{}, MARK]}}}, {"t": ["a", "b", "c"]}, {"t": ["a", R, "c"]}),
        ({"items": {"properties": {"p": MARK}}}, [{"p": "x"}, {"q": "y"}], [{"p": R}, {"q": "y"}]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"p": MARK}}}}, {"p": "x"}, {"p": R}),
        ({"anyOf": [{"type": "null"}, {"properties": {"p": MARK}}]}, {"p": "x"}, {"p": R}),
        ({"allOf": [{"properties": {"p": {}}}, {"properties": {"p": MARK}}]}, {"p": "x"}, {"p": R}),
        ({"if": {}, "then": {"properties": {"p": MARK}}}, {"p": "x"}, {"p": R}),
        ({"dependentSchemas": {"q": {"properties": {"p": MARK}}}}, {"p": "x"}, {"p": R}),
        ({"additionalProperties": MARK, "properties": {"q": {}}}, {"p": "x", "q": "y"}, {"p": R, "q": "y"}),
        ({"patternProperties": {"^p": MARK}}, {"pa": "x", "q": "y"}, {"pa": R, "q": "y"}),
        ({"patternProperties": {"\\p{L}": MARK}}, {"pa": "x"}, {"pa": R}),
        ({"$ref": "#s", "$defs": {"a": {"$anchor": "s", **MARK}}}, "x", R),
        ({"$dynamicRef": "#s", "$defs": {"a": {"$dynamicAnchor": "s", **MARK}}}, "x", R),
        ({"$ref": "https://a.example/b", "$defs": {"a": {"$id": "https://a.example/b", **MARK}}}, "x", R),
        ({"$id": "https://a.example/b", "$ref": "/c", "$defs": {"a": {"$id": "c", **MARK}}}, "x", R),
        ({"$ref": "urn:a:b", "$defs": {"a": {"$id": "urn:a:b", "$ref": "#/x", "x": MARK}}}, "x", R),
        (MARK, "x", R),
        ({"$ref": "#/$defs/nothing"}, {"p": "x"}, {"p": "x"}),
        ({"$ref": "https://example.com/x"}, {"p": "x"}, {"p": "x"}),
        ({"properties": {"p": MARK}}, ["not an object"], ["not an object"]),
    ],
)
def test_marks_are_found(schema, value, masked):
    original = copy.deepcopy(value)

    assert mask_sensitive(value, schema) == masked
    assert value == original


def test_trees_are_masked_at_every_depth():
    node = {"properties": {"p": MARK, "kids": {"items": {"$ref": "#/$defs/node"}}}}
    schema = {"$ref": "#/$defs/node", "$defs": {"node": node}}

    assert mask_sensitive({"kids": [{"p": "x", "kids": [{"p": "y"}]}]}, schema) == {
        "kids": [{"p": R, "kids": [{"p": R}]}]
    }


def test_references_in_a_circle_end():
    schema = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a", "x-sensitive": True}},
    }

    assert mask_sensitive("x", schema) == R


def test_a_compiled_schema_masks_with_its_marks():
    compiled = compile_schema({"properties": {"p": MARK}}, strict_inputs=True)

    assert compiled.mask({"p": "x", "q": "y"}) == {"p": R, "q": "y"}
    assert compiled.mask is compiled.mask


@given(json_values)
def test_what_is_not_marked_is_not_even_copied(value):
    assert mask_sensitive(value, {"properties": {"never there": MARK}, "items": {}}) is value


@given(json_values)
def test_only_null_survives_a_mark_on_everything(value):
    assert mask_sensitive(value, MARK) == (None if value is None else R)
