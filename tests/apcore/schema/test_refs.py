import pytest

from apcore.errors import SchemaCircularRefError, SchemaNotFoundError
from apcore.schema.refs import References, inline_definitions, resolve_pointer


def check(document):
    References(document).check()


def chain(length):
    definitions = {f"d{index}": {"$ref": f"#/$defs/d{index + 1}"} for index in range(length - 1)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{length - 1}": {"type": "null"}}}


@pytest.mark.req("R-4.11-07")
def test_32_references_in_a_row_are_the_limit():
    check(chain(32))
    with pytest.raises(SchemaCircularRefError):
        check(chain(33))


@pytest.mark.req("R-4.11-08")
def test_using_one_definition_twice_is_no_circle():
    check({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "null"}}})


@pytest.mark.req("R-4.11-10")
@pytest.mark.parametrize("pointer", ["/a~1b", "/c~0d", "/e/1", "/ "])
def test_pointers_are_decoded(pointer):
    document = {"a/b": "here", "c~d": "here", "e": ["", "here"], " ": "here"}

    assert resolve_pointer(document, pointer) == "here"


@pytest.mark.parametrize("pointer", ["/x", "/e/2", "/e/x", "/a~1b/c"])
def test_pointers_to_nothing_are_refused(pointer):
    with pytest.raises(SchemaNotFoundError, match="#" + pointer):
        resolve_pointer({"a/b": "text", "e": [1]}, pointer)


def test_percent_signs_of_references_are_decoded():
    check({"$ref": "#/$defs/a%20b", "$defs": {"a b": {}}})


def test_definitions_are_put_in_place():
    document = {
        "properties": {"a": {"$ref": "#/$defs/A", "description": "mine"}, "b": {"items": {"$ref": "#/$defs/A"}}},
        "$defs": {"A": {"description": "theirs", "properties": {"c": {"$ref": "#/$defs/C"}}}, "C": {"type": "null"}},
    }

    assert inline_definitions(document) == {
        "properties": {
            "a": {"description": "mine", "properties": {"c": {"type": "null"}}},
            "b": {"items": {"description": "theirs", "properties": {"c": {"type": "null"}}}},
        }
    }


def test_trees_stay_definitions():
    node = {"properties": {"kids": {"items": {"$ref": "#/$defs/Node"}}, "leaf": {"$ref": "#/$defs/Leaf"}}}
    document = {"properties": {"top": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node, "Leaf": {"type": "null"}}}

    assert inline_definitions(document) == {
        "properties": {"top": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"properties": {"kids": {"items": {"$ref": "#/$defs/Node"}}, "leaf": {"type": "null"}}}},
    }


def test_a_missing_anchor_is_refused():
    with pytest.raises(SchemaNotFoundError, match="#nothing"):
        check({"$ref": "#nothing"})


def test_pointers_of_an_embedded_resource_start_there():
    inner = {"$id": "https://a.example/b", "$ref": "#/$defs/x", "$defs": {"x": {"type": "null"}}}
    document = {"$ref": "https://a.example/b", "$defs": {"inner": inner}}

    check(document)
    assert References(document).target_of(document) is inner
    assert References(document).target_of(inner) == {"type": "null"}


def test_references_out_of_the_document_lead_nowhere_here():
    document = {"$ref": "https://json-schema.org/draft/2020-12/schema"}

    check(document)
    assert References(document).target_of(document) is None
