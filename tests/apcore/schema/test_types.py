import subprocess
import sys

from apcore.schema.types import describe_types

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


def test_descriptions_come_in_the_order_of_the_annotations():
    described, _ = describe_types({"b": int, "a": set[int], "c": str})

    assert list(described) == ["b", "a", "c"]
