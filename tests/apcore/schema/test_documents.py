from dataclasses import dataclass

import pytest
from pydantic import BaseModel, Field, computed_field

from apcore.errors import SchemaParseError
from apcore.schema import compile_schema, schema_document


class Order(BaseModel):
    number: int = Field(ge=1)
    secret: str = Field("", json_schema_extra={"x-sensitive": True})

    @computed_field
    def label(self) -> str:
        return f"#{self.number}"


@dataclass
class Line:
    amount: int


def test_nothing_is_the_empty_schema():
    assert schema_document(None) == {}


def test_a_mapping_is_copied():
    source = {"properties": {"a": {"type": "string"}}}

    document = schema_document(source)
    document["properties"]["a"]["type"] = "integer"

    assert source == {"properties": {"a": {"type": "string"}}}


@pytest.mark.req("R-4.10-01", "R-4.3-01")
def test_a_model_describes_itself():
    document = schema_document(Order)

    assert document == Order.model_json_schema()
    assert document["properties"]["secret"]["x-sensitive"] is True
    assert not compile_schema(document).is_valid({"number": 0})


def test_an_output_has_computed_fields():
    assert "label" not in schema_document(Order)["properties"]
    assert "label" in schema_document(Order, output=True)["properties"]


def test_other_types_are_described():
    assert schema_document(Line)["properties"] == {"amount": {"type": "integer"}}
    assert schema_document(dict) == {"type": "object"}


@pytest.mark.parametrize("source", ["text", 7, [{}], Line(1)])
def test_what_describes_nothing_is_refused(source):
    with pytest.raises(SchemaParseError):
        schema_document(source)
