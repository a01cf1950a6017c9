import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import SchemaValidationError
from apcore.schema import SchemaValidator, coerce_types

SCHEMA = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1},
        "price": {"type": "number"},
        "active": {"type": "boolean"},
        "name": {"type": "string"},
        "maybe": {"type": ["integer", "null"]},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "choice": {"oneOf": [{"type": "boolean"}, {"type": "integer"}]},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "pair": {"prefixItems": [{"type": "integer"}, {"type": "string"}]},
    },
    "$defs": {"line": {"type": "object", "properties": {"quantity": {"type": "integer"}}}},
}


@pytest.mark.req("R-4.9-07")
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"count": "5"}, {"count": 5}),
        ({"price": "2.5"}, {"price": 2.5}),
        ({"price": "2"}, {"price": 2}),
        ({"active": "true"}, {"active": True}),
        ({"active": "False"}, {"active": False}),
        ({"maybe": "-1"}, {"maybe": -1}),
        ({"either": "5"}, {"either": "5"}),
        ({"choice": "5"}, {"choice": 5}),
        ({"lines": [{"quantity": "2"}]}, {"lines": [{"quantity": 2}]}),
        ({"pair": ["1", "2"]}, {"pair": [1, "2"]}),
        ({"name": "5"}, {"name": "5"}),
    ],
)
def test_texts_become_what_they_spell(given, wanted):
    assert SchemaValidator(coerce_types=True).validate(given, SCHEMA) == wanted


@pytest.mark.req("R-4.9-07")
def test_nothing_is_coerced_unless_asked():
    with pytest.raises(SchemaValidationError):
        SchemaValidator().validate({"count": "5"}, SCHEMA)


@pytest.mark.req("R-4.9-07")
@pytest.mark.parametrize(
    "value",
    [
        {"count": "five"},
        {"count": "5.5"},
        {"count": "0"},
        {"count": " 5"},
        {"count": "9" * 400},
        {"count": None},
        {"active": "yes"},
        {"name": 5},
        {"price": "nan"},
    ],
)
def test_other_values_are_refused_as_before(value):
    with pytest.raises(SchemaValidationError):
        SchemaValidator(coerce_types=True).validate(value, SCHEMA)


@pytest.mark.req("R-4.9-06")
def test_undeclared_fields_are_refused_unless_allowed():
    with pytest.raises(SchemaValidationError):
        SchemaValidator().validate({"other": 1}, SCHEMA)
    assert SchemaValidator(strict=False).validate({"other": 1}, SCHEMA) == {"other": 1}


@given(st.integers())
def test_integers_survive(number):
    assert coerce_types({"maybe": str(number)}, SCHEMA) == {"maybe": number}


def test_the_given_value_is_not_changed():
    value = {"lines": [{"quantity": "2"}]}
    coerce_types(value, SCHEMA)
    assert value == {"lines": [{"quantity": "2"}]}
