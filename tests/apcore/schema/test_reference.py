"""Refusing must stay cheap, and stay a refusal, whatever the value is.

The hard cases run in a process of their own, because a pattern that runs wild cannot be stopped in this one.
"""

import json
import subprocess
import sys
from datetime import date
from decimal import Decimal

import pytest

from apcore.errors import SchemaValidationError
from apcore.schema import compile_schema

HARD_CASES = """
from apcore.schema import compile_schema
from apcore.redaction import redact_sensitive
wild, text, many = "^(a+)+$", "a" * 50 + "!", [{"a": n} for n in range(20_000)]
for schema, value in (
    ({"properties": {"v": {"type": "string", "pattern": wild}}}, {"v": text}),
    ({"properties": {"v": {"pattern": wild}, "w": {"type": "integer"}}}, {"v": text, "w": "x"}),
    ({"patternProperties": {wild: {}}, "additionalProperties": False}, {text: 1}),
    ({"patternProperties": {wild: {}}, "unevaluatedProperties": False}, {text: 1}),
    ({"properties": {"v": {"uniqueItems": True}, "w": {"type": "integer"}}}, {"v": many, "w": ""}),
):
    try:
        compile_schema({"type": "object", **schema}).validate(value)
    except ValueError:
        raise
    except Exception as error:
        print(error.errors[0]["constraint"])
redact_sensitive({text: 1}, {"patternProperties": {wild: {"x-sensitive": True}}})
"""


def test_no_value_makes_the_explanation_take_exponential_or_quadratic_time():
    done = subprocess.run([sys.executable, "-c", HARD_CASES], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.split() == ["pattern", "pattern", "additionalProperties", "unevaluatedProperties", "type"]


def nested(depth, leaf):
    value = leaf
    for _ in range(depth):
        value = {"child": value}
    return value


TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"child": {"$ref": "#/$defs/node"}, "leaf": {"type": "integer"}},
            "patternProperties": {"^x": {}},
        }
    },
}


@pytest.mark.req("R-4.14-02")
@pytest.mark.parametrize(
    "value",
    [
        nested(300, {"leaf": "x"}),
        nested(10_000, {"leaf": "x"}),
        {1: 2},
        {None: 1, "leaf": "x"},
        {("a",): 1},
        {"leaf": b"bytes"},
        {"leaf": date(2026, 1, 1)},
        {"leaf": Decimal("1.5")},
        {"leaf": float("nan")},
        {"leaf": object()},
        {"leaf": "\ud800"},
        {"child": 10**5000},
    ],
    ids=lambda value: str(type(next(iter(value.values()))).__name__),
)
def test_a_refusal_stays_a_refusal_and_its_errors_are_json(value):
    with pytest.raises(SchemaValidationError) as caught:
        compile_schema(TREE, strict_inputs=True).validate(value)
    json.dumps(caught.value.to_dict(), allow_nan=False)
    assert caught.value.errors
