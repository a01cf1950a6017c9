import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import SchemaValidationError
from apcore.schema import compile_schema, kind_of, pointer_to, resolve_pointer
from tests.apcore.strategies import json_values

SECRET = "hunter2"


def errors_of(schema, value):
    with pytest.raises(SchemaValidationError) as caught:
        compile_schema(schema, strict_inputs=True).validate(value)
    return caught.value


@pytest.mark.req("R-4.14-02")
def test_path_is_a_json_pointer_into_the_value():
    schema = {"properties": {"options": {"properties": {"retry_count": {"minimum": 1}, "a/b~c": {"type": "null"}}}}}

    error = errors_of(schema, {"options": {"retry_count": 0, "a/b~c": 1}})

    assert [each["path"] for each in error.errors] == ["/options/a~1b~0c", "/options/retry_count"]


@pytest.mark.req("R-4.14-03")
@pytest.mark.parametrize(
    ("schema", "value", "violation"),
    [
        (
            {"type": "integer"},
            "a",
            {"message": "must be integer, not string", "constraint": "type", "expected": "integer", "actual": "a"},
        ),
        (
            {"type": ["integer", "null"]},
            [],
            {"message": "must be integer or null, not array", "constraint": "type", "expected": ["integer", "null"]},
        ),
        (
            {"minimum": 1},
            0,
            {"message": "must be at least 1", "constraint": "minimum", "expected": 1, "actual": 0},
        ),
        (
            {"enum": ["a", "b"]},
            "c",
            {"message": "must be one of a, b", "constraint": "enum", "expected": ["a", "b"], "actual": "c"},
        ),
        (
            {"const": {"a": 1}},
            None,
            {"message": "must be {'a': 1}", "constraint": "const", "actual": None},
        ),
        (
            False,
            7,
            {"message": "is not allowed", "constraint": "not", "actual": 7},
        ),
    ],
)
def test_items_say_what_was_expected_and_what_came(schema, value, violation):
    assert errors_of({"properties": {"x": schema}}, {"x": value}).errors == [{"path": "/x", **violation}]


def test_every_missing_and_every_unknown_field_is_an_item_of_its_own():
    error = errors_of({"properties": {"a": {}, "b": {}}, "required": ["a", "b"]}, {"x": 1, "y": 2})

    assert [(each["path"], each["constraint"]) for each in error.errors] == [
        ("/a", "required"),
        ("/b", "required"),
        ("/x", "additionalProperties"),
        ("/y", "additionalProperties"),
    ]
    assert error.message == "/a is required (and 3 more)"


@pytest.mark.parametrize("choice", ["anyOf", "oneOf"])
def test_of_a_choice_the_form_that_was_meant_explains(choice):
    schema = {
        "properties": {"x": {choice: [{"properties": {"a": {"type": "integer"}}, "type": "object"}, {"type": "null"}]}}
    }

    assert [each["path"] for each in errors_of(schema, {"x": {"a": "b"}}).errors] == ["/x/a"]


def test_of_tagged_forms_the_one_with_the_tag_explains():
    schema = {
        "properties": {
            "pet": {
                "oneOf": [
                    {"properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind"]},
                    {"properties": {"kind": {"const": "dog"}, "barks": {"type": "boolean"}}, "required": ["kind"]},
                ]
            }
        }
    }

    error = errors_of(schema, {"pet": {"kind": "dog", "barks": "loudly"}})

    assert [each["path"] for each in error.errors] == ["/pet/barks"]


def test_if_it_is_not_clear_what_was_meant_the_choice_itself_is_named():
    schema = {"anyOf": [{"type": "string", "minLength": 9}, {"type": "string", "pattern": "^x"}]}

    assert errors_of(schema, "a").errors == [
        {"path": "", "message": "must fit one of the allowed forms", "constraint": "anyOf", "actual": "a"}
    ]


def test_long_texts_are_cut():
    (violation,) = errors_of({"maxLength": 1}, "a" * 10_000).errors

    assert len(violation["actual"]) == 201


def test_a_flood_of_violations_is_cut():
    assert len(errors_of({"items": {"type": "null"}}, [1] * 5_000).errors) == 1000


@pytest.mark.req("R-4.14-05")
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"p": {"x-sensitive": True, "minLength": 99}}}, {"p": SECRET}),
        ({"properties": {"p": {"format": "password", "pattern": "^x"}}}, {"p": SECRET}),
        ({"properties": {"p": {"x-sensitive": True, "type": "integer"}}}, {"p": SECRET}),
        ({"properties": {"p": {"x-sensitive": True, "type": "integer"}}}, {"p": [SECRET]}),
        ({"properties": {"p": {"x-sensitive": True, "properties": {"q": {"type": "null"}}}}}, {"p": {"q": SECRET}}),
        ({"properties": {"p": {"items": {"x-sensitive": True, "type": "null"}}}}, {"p": [SECRET]}),
        (
            {"properties": {"p": {"$ref": "#/$defs/s"}}, "$defs": {"s": {"x-sensitive": True, "type": "null"}}},
            {"p": SECRET},
        ),
        ({"properties": {"p": {"anyOf": [{"x-sensitive": True, "minLength": 99}, {"type": "null"}]}}}, {"p": SECRET}),
        ({"properties": {"p": {"x-sensitive": True}}, "maxProperties": 0}, {"p": SECRET}),
        (
            {"properties": {"p": {"x-sensitive": True}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"p": SECRET},
        ),
        ({"properties": {"p": {"x-sensitive": True}}, "type": "array"}, {"p": SECRET}),
        ({"additionalProperties": {"x-sensitive": True, "enum": ["a"]}}, {"p": SECRET}),
        ({"patternProperties": {"^p": {"x-sensitive": True, "enum": ["a"]}}}, {"p": SECRET}),
    ],
)
def test_sensitive_values_appear_nowhere(schema, value):
    assert SECRET not in repr(errors_of(schema, value).to_dict())


@given(value=json_values)
def test_paths_lead_to_what_is_wrong(value):
    schema = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}}
    compiled = compile_schema(schema)
    if compiled.is_valid(value):
        return
    for violation in errors_of(schema, value).errors:
        wrong = resolve_pointer({"value": value}, f"/value{violation['path']}")
        assert not compile_schema({"type": violation["expected"]}).is_valid(wrong)
        if isinstance(wrong, str):
            assert violation["actual"][:200] == wrong[:200]


@given(st.lists(st.text() | st.integers(0, 9)))
def test_pointers_are_read_back(path):
    document = "here"
    for token in reversed(path):
        document = {str(token): document}

    assert resolve_pointer(document, pointer_to(path)) == "here"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.5, "number"),
        ("", "string"),
        ([], "array"),
        ((), "array"),
        ({}, "object"),
        (b"", "bytes"),
    ],
)
def test_kinds(value, kind):
    assert kind_of(value) == kind
