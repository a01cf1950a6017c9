"""A declared schema is read and checked once by its content, and every module gets a copy of its own."""

from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import SchemaParseError
from apcore.schema import check_schema, checked_document, schema_document

INTEGER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3) | st.tuples(inner),
    max_leaves=6,
)


class Text(str):
    """A text that is more than a text."""


@pytest.mark.parametrize("wrong", [{"type": "nonsense"}, {"type": 1}, {"default": {1, 2}}, {"default": float("nan")}])
def test_what_is_no_schema_is_refused_every_time(wrong: dict[str, Any]) -> None:
    for _ in range(2):
        with pytest.raises(SchemaParseError):
            checked_document(wrong)


def test_a_schema_that_holds_itself_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["default"] = endless
    with pytest.raises((SchemaParseError, RecursionError)):
        checked_document(endless)


def test_who_changes_a_copy_changes_no_other() -> None:
    first, second = checked_document(INTEGER), checked_document(INTEGER)
    assert first == second == INTEGER
    first["properties"]["n"]["type"] = "string"  # type: ignore[index]
    assert checked_document(INTEGER) == second == INTEGER


def test_who_changes_the_source_afterwards_changes_nothing() -> None:
    source = {"type": "object", "properties": {"n": {"type": "integer"}}}
    document = checked_document(source)
    source["properties"]["n"]["type"] = "string"
    assert document["properties"]["n"]["type"] == "integer"
    assert checked_document(source)["properties"]["n"]["type"] == "string"


def test_equal_is_not_the_same_where_json_tells_them_apart() -> None:
    assert checked_document({"default": 1})["default"] is not True
    assert checked_document({"default": True})["default"] is True
    assert type(checked_document({"default": 1.0})["default"]) is float


@pytest.mark.parametrize("source", [None, MappingProxyType(INTEGER), OrderedDict(INTEGER), {"title": Text("t")}])
def test_what_is_no_plain_dictionary_is_read_all_the_same(source: Any) -> None:
    assert checked_document(source) == schema_document(source)


@given(default=VALUES)
def test_the_document_is_the_one_of_the_two_steps(default: Any) -> None:
    source = {"type": "object", "default": default}
    expected = schema_document(source)
    check_schema(expected)
    assert checked_document(source) == expected
