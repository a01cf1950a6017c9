import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.schema import compile_schema
from apcore.schema.plain_types import plain_schema
from tests.apcore.strategies import json_values

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
