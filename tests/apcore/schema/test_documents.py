from dataclasses import dataclass
from enum import Enum
from typing import Literal

import pytest
from pydantic import BaseModel, Field, computed_field

from apcore.errors import SchemaParseError
from apcore.schema import compile_schema, generate_schema_from_function, schema_document


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


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

    assert document["properties"]["number"] == {"type": "integer", "minimum": 1}
    assert document["properties"]["secret"]["x-sensitive"] is True
    assert not compile_schema(document).is_valid({"number": 0})


class Parcel(BaseModel):
    order: Order
    size: Size | None = None
    kind: Literal["parcel"] = "parcel"
    inside: "list[Parcel]" = []


@pytest.mark.req("R-5.11.10-01", "R-5.11.5-03")
def test_a_model_is_described_as_in_a_signature():
    def send(order: Order, size: Size | None = None, kind: Literal["parcel"] = "parcel") -> dict: ...

    model, function = schema_document(Parcel), generate_schema_from_function(send).input_schema

    assert {name: model["properties"][name] for name in function["properties"]} == function["properties"]
    assert model["properties"]["size"] == {"type": "string", "enum": ["s", "l"], "nullable": True, "default": None}
    assert model["$defs"].keys() == {"Parcel"}


def test_a_model_may_describe_itself_in_its_own_way():
    class Free(BaseModel):
        @classmethod
        def model_json_schema(cls, **options):
            return {"type": "object", "description": "anything"}

    assert schema_document(Free) == {"type": "object", "description": "anything"}


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
