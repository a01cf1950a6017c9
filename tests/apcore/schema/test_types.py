import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.schema import compile_schema
from apcore.schema.types import describe_types, plain_schema
from tests.apcore.strategies import json_values

PROGRAM = """
import sys
from typing import Literal
from apcore.schema import compile_schema, generate_schema_from_function

def function(a: int, b: str | None = None, c: Literal["x"] = "x", d: dict[str, list[int]] = {}) -> dict:
    return {}

schema = generate_schema_from_function(function)
compile_schema(schema.input_schema, strict_inputs=True).validate({"a": 1})
assert "pydantic" not in sys.modules
"""


def test_plain_functions_need_no_pydantic():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


annotations = st.recursive(
    st.sampled_from([str, int, float, bool, None, dict, list]),
    lambda inner: (
        inner.map(lambda each: list[each])
        | inner.map(lambda each: dict[str, each])
        | st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1] if None not in pair else pair[0])
    ),
    max_leaves=4,
)


@pytest.mark.req("R-5.11.5-01", "R-5.11.5-02", "R-5.11.5-03")
@given(annotation=annotations, value=json_values)
def test_plain_schemas_judge_as_pydantic_does(annotation, value):
    pydantic = pytest.importorskip("pydantic")
    schema = plain_schema(annotation if annotation is not None else type(None))
    assert schema is not None
    wrapped = {"properties": {"x": schema}}
    reference = {"properties": {"x": pydantic.TypeAdapter(annotation).json_schema()}}

    assert compile_schema(wrapped).is_valid({"x": value}) == compile_schema(reference).is_valid({"x": value})


def test_descriptions_come_in_the_order_of_the_annotations():
    described, _ = describe_types({"b": int, "a": set[int], "c": str})

    assert list(described) == ["b", "a", "c"]
