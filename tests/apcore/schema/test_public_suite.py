"""Both validators against the public test suite of JSON Schema, Draft 2020-12, and against each other."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import SchemaNotFoundError
from apcore.schema import compile_schema
from tests.apcore.strategies import json_values
from tests.conftest import need
from tools.json_schema_suite import required_cases

SUITE = required_cases()

# What differs on purpose, by file and a part of the description.
DIFFERENCES = {
    "format": "annotation by default",  # the formats of apcore.schema.formats are checked
    "vocabulary": "no validation: invalid number",  # there is one dialect; a document cannot switch keywords off
}
NEEDS_THE_NETWORK = "http://localhost:1234/"


def differs(file, description):
    return file in DIFFERENCES and DIFFERENCES[file] in description


def test_the_suite_is_there():
    need("json-schema-suite")
    assert len(SUITE) > 40


@pytest.mark.req("R-4.2-01", "R-4.2-02", "R-4.10-01", "R-12.3-01")
@pytest.mark.parametrize("file", SUITE)
def test_verdicts(file):
    wrong = []
    for group in SUITE[file]:
        if isinstance(group["schema"], bool):  # a module's schema is an object
            continue
        try:
            compiled = compile_schema(group["schema"])
        except SchemaNotFoundError:
            assert NEEDS_THE_NETWORK in json.dumps(group["schema"])
            continue
        for case in group["tests"]:
            if not differs(file, case["description"]) and verdicts(compiled, case["data"]) != {case["valid"]}:
                wrong.append((group["description"], case["description"]))
    assert wrong == []


def verdicts(compiled, value):
    """What the fast validator says, and what the reference says."""
    return {compiled.is_valid(value), not compiled._explained(value)}


plain_schemas = st.one_of(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])}
    ),
    st.fixed_dictionaries({"enum": st.lists(json_values, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"const": json_values}),
    st.fixed_dictionaries({"minimum": st.integers(-5, 5)}),
    st.fixed_dictionaries({"maxLength": st.integers(0, 3)}),
    st.fixed_dictionaries({"multipleOf": st.sampled_from([1, 2, 0.5])}),
    st.fixed_dictionaries({"uniqueItems": st.just(True)}),
    st.fixed_dictionaries({"required": st.lists(st.sampled_from("ab"), unique=True)}),
)
schemas = st.recursive(
    plain_schemas,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "nullable": st.booleans(),
            "properties": st.dictionaries(st.sampled_from("ab"), inner),
            "items": inner | st.booleans(),
            "additionalProperties": inner | st.booleans(),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "unevaluatedProperties": st.booleans(),
        },
    ),
    max_leaves=6,
)
small_values = st.recursive(
    st.none() | st.booleans() | st.integers(-6, 6) | st.sampled_from(["", "a", "abcd", 0.5, 1.0]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@given(schema=schemas, value=small_values, strict=st.booleans())
def test_the_two_validators_agree(schema, value, strict):
    assert len(verdicts(compile_schema(schema, strict_inputs=strict), value)) == 1
