import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import (
    ModuleError,
    SchemaCircularRefError,
    SchemaNotFoundError,
    SchemaParseError,
    SchemaValidationError,
)
from apcore.schema import check_schema, compile_schema, schema_document
from tests.apcore.strategies import json_values

DB_PARAMS = {
    "type": "object",
    "properties": {
        "table": {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"},
        "sql": {"type": "string"},
        "timeout": {"type": "integer", "default": 30, "minimum": 1, "maximum": 300},
    },
    "required": ["table", "sql"],
}


def violations(schema, value, **options):
    with pytest.raises(SchemaValidationError) as caught:
        compile_schema(schema, **options).validate(value)
    assert not compile_schema(schema, **options).is_valid(value)
    return {each["path"]: each["constraint"] for each in caught.value.errors}


@pytest.mark.req("R-12.4-08", "R-4.14-02", "R-4.14-04")
def test_type_error_missing_field_and_extra_field_are_all_reported():
    found = violations(DB_PARAMS, {"table": 1, "extra": True}, strict_inputs=True)

    assert found == {"/table": "type", "/sql": "required", "/extra": "additionalProperties"}


@pytest.mark.req("R-4.14-01")
def test_error_has_the_shape_of_the_specification():
    with pytest.raises(SchemaValidationError) as caught:
        compile_schema(DB_PARAMS).validate({"table": "User-Info", "sql": "x"})

    data = caught.value.to_dict()
    assert data["code"] == "SCHEMA_VALIDATION_ERROR"
    assert data["message"] == "/table must match the pattern ^[a-z][a-z0-9_]*$"
    assert data["errors"] == [
        {
            "path": "/table",
            "message": "must match the pattern ^[a-z][a-z0-9_]*$",
            "constraint": "pattern",
            "expected": "^[a-z][a-z0-9_]*$",
            "actual": "User-Info",
        }
    ]


def test_what_fits_is_accepted():
    compiled = compile_schema(DB_PARAMS, strict_inputs=True)

    assert compiled.validate({"table": "users", "sql": "x", "timeout": 5}) is None
    assert compiled.is_valid({"table": "users", "sql": "x"})


@pytest.mark.req("R-4.2-01", "R-4.2-02")
@pytest.mark.parametrize(
    ("schema", "good", "bad", "constraint"),
    [
        ({"type": "string"}, "a", 1, "type"),
        ({"type": ["string", "null"]}, None, 1, "type"),
        ({"enum": ["a", 1]}, 1, "b", "enum"),
        ({"const": {"a": 1}}, {"a": 1}, {"a": 2}, "const"),
        ({"minimum": 1}, 1, 0, "minimum"),
        ({"maximum": 1}, 1, 2, "maximum"),
        ({"exclusiveMinimum": 1}, 2, 1, "exclusiveMinimum"),
        ({"exclusiveMaximum": 1}, 0, 1, "exclusiveMaximum"),
        ({"multipleOf": 0.1}, 0.3, 0.35, "multipleOf"),
        ({"minLength": 2}, "ab", "a", "minLength"),
        ({"maxLength": 1}, "é", "ab", "maxLength"),
        ({"pattern": "^a"}, "ab", "ba", "pattern"),
        ({"items": {"type": "integer"}}, [1], ["a"], "type"),
        ({"prefixItems": [{"const": 1}], "items": False}, [1], [1, 2], "items"),
        ({"minItems": 1}, [1], [], "minItems"),
        ({"maxItems": 1}, [1], [1, 2], "maxItems"),
        ({"uniqueItems": True}, [1, 2], [1, 1], "uniqueItems"),
        ({"contains": {"const": 1}}, [2, 1], [2], "contains"),
        ({"required": ["a"]}, {"a": 1}, {}, "required"),
        ({"minProperties": 1}, {"a": 1}, {}, "minProperties"),
        ({"maxProperties": 0}, {}, {"a": 1}, "maxProperties"),
        ({"properties": {"a": {"type": "null"}}}, {"a": None}, {"a": 1}, "type"),
        ({"patternProperties": {"^a": {"type": "null"}}}, {"b": 1}, {"ab": 1}, "type"),
        ({"additionalProperties": False}, {}, {"a": 1}, "additionalProperties"),
        ({"propertyNames": {"maxLength": 1}}, {"a": 1}, {"ab": 1}, "maxLength"),
        ({"dependentRequired": {"a": ["b"]}}, {"b": 1}, {"a": 1}, "dependentRequired"),
        ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, 1, 3, "maximum"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, "a", "anyOf"),
        ({"oneOf": [{"minimum": 2}, {"maximum": 3}]}, 1, 2, "oneOf"),
        ({"not": {"type": "null"}}, 1, None, "not"),
        ({"if": {"minimum": 5}, "then": {"multipleOf": 5}}, 3, 7, "multipleOf"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, None, 1, "type"),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"a": 1}, {"b": 1}, "unevaluatedProperties"),
        ({"properties": {"a": False}}, {}, {"a": 1}, "not"),
        ({"items": {"anyOf": [False]}}, [], [1], "anyOf"),
    ],
)
def test_keywords(schema, good, bad, constraint):
    compile_schema(schema).validate(good)
    assert constraint in violations(schema, bad).values()


@pytest.mark.req("R-4.15-03")
def test_the_empty_schema_is_any_object():
    compile_schema({}).validate({"a": 1})
    compile_schema({}, strict_inputs=True).validate({"a": 1})
    assert violations({}, [1]) == {"": "type"}


@pytest.mark.req("R-4.15-05")
def test_unknown_keywords_are_ignored():
    compile_schema({"x-custom": 1, "foo": {"type": "nonsense"}, "type": "string"}).validate("a")


@pytest.mark.req("R-4.2-03")
@pytest.mark.parametrize("dialect", [{}, {"$schema": "https://apcore.dev/schema/v1"}])
def test_the_dialect_is_2020_12_whatever_a_file_calls_it(dialect):
    assert violations({**dialect, "prefixItems": [{"type": "string"}]}, [1]) == {"/0": "type"}


@pytest.mark.req("R-4.15-07")
def test_empty_required_requires_nothing():
    compile_schema({"properties": {"a": {}}, "required": []}).validate({})


@pytest.mark.req("R-4.15-08")
def test_enum_may_contain_null():
    compile_schema({"enum": ["a", None]}).validate(None)


def test_nothing_is_coerced():
    assert violations({"type": "integer"}, "5") == {"": "type"}
    assert violations({"type": "integer"}, True) == {"": "type"}
    assert violations({"type": "boolean"}, 1) == {"": "type"}
    assert violations({"type": "string"}, 5) == {"": "type"}


@pytest.mark.req("R-12.2-05")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": 5},
        {"type": "text"},
        {"pattern": "("},
        {"properties": []},
        {"required": "a"},
        {"default": {1, 2}},
        {"minimum": float("nan")},
    ],
)
def test_what_is_no_schema_is_refused(schema):
    with pytest.raises(SchemaParseError) as caught:
        check_schema(schema)
    assert caught.value.code == "SCHEMA_PARSE_ERROR"


_KEYWORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "pattern",
        "minimum",
        "anyOf",
        "not",
        "nullable",
        "$ref",
        "format",
    ]
)
_VALUES = st.recursive(
    st.sampled_from([True, False, None, 1, -1.5, "string", "integer", "(", "#", "date", [], {}, ["a"], ["a", "a"]]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYWORDS, inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.req("R-4.2-01", "R-4.2-02")
@given(st.dictionaries(_KEYWORDS, _VALUES, max_size=4))
def test_what_is_checked_can_be_compiled_and_nothing_else(schema):
    def refusal(of):
        try:
            of(schema)
        except ModuleError as error:
            return error.code

    assert refusal(check_schema) == refusal(compile_schema)


@pytest.mark.parametrize("values", [True, 5, "a", None, {"a": 1}])
@pytest.mark.parametrize("check", [check_schema, compile_schema])
def test_values_that_are_no_list_are_refused_where_null_is_accepted_too(check, values):
    with pytest.raises(SchemaParseError):
        check({"properties": {"a": {"nullable": True, "enum": values}}})


def test_place_of_the_fault_in_a_schema_is_named():
    with pytest.raises(SchemaParseError, match="/properties/a/type") as caught:
        check_schema({"properties": {"a": {"type": 5}}})
    assert caught.value.details == {"path": "/properties/a/type"}


@pytest.mark.req("R-4.15-02")
@pytest.mark.parametrize(
    "reference", ["#/$defs/nothing", "#/properties/a/9", "https://example.com/schema.json", "a.json"]
)
def test_a_reference_without_target_is_refused_and_nothing_is_fetched(reference):
    with pytest.raises(SchemaNotFoundError):
        compile_schema({"properties": {"a": {"$ref": reference}}})


@pytest.mark.req("R-4.11-02")
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"$defs": {"a": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}]}}},
    ],
)
def test_references_in_a_circle_are_refused(schema):
    with pytest.raises(SchemaCircularRefError):
        compile_schema(schema)


def test_a_tree_may_contain_itself():
    tree = {"$ref": "#/$defs/node", "$defs": {"node": {"properties": {"kids": {"items": {"$ref": "#/$defs/node"}}}}}}

    compile_schema(tree).validate({"kids": [{"kids": []}]})
    assert violations(tree, {"kids": [{"kids": [], "x": 1}]}, strict_inputs=True) == {
        "/kids/0/x": "additionalProperties"
    }


def test_equal_documents_share_one_validator():
    first = compile_schema({"type": "object", "properties": {"a": {}, "b": {}}})
    second = compile_schema({"properties": {"b": {}, "a": {}}, "type": "object"})

    assert first is second
    assert first is not compile_schema(first.document, strict_inputs=True)
    assert first.content_hash == compile_schema(first.document, strict_inputs=True).content_hash


def test_compiling_changes_nothing():
    document = {"properties": {"a": {"nullable": True, "type": "string", "format": "hostname"}}, "$schema": "x"}
    original = copy.deepcopy(document)

    assert compile_schema(document, strict_inputs=True).document == original
    assert document == original


@pytest.mark.parametrize(("schema", "value"), [({"pattern": "^abc$"}, "abc\n"), ({"pattern": "^\\p{L}$"}, "1")])
def test_where_the_two_validators_read_a_pattern_differently_the_stricter_one_counts(schema, value):
    assert violations(schema, value) == {"": "pattern"}


@pytest.mark.parametrize("value", [{"a": b"x"}, {1: 2}, {"a": {1}}])
def test_values_that_json_cannot_hold_are_refused(value):
    assert violations({"properties": {"a": {"type": "string"}}}, value)


@given(value=json_values)
def test_any_value_is_judged_without_surprise(value):
    compiled = compile_schema(DB_PARAMS, strict_inputs=True)
    if compiled.is_valid(value):
        assert compiled.validate(value) is None
    else:
        with pytest.raises(SchemaValidationError) as caught:
            compiled.validate(value)
        assert caught.value.errors


@given(st.dictionaries(st.sampled_from(["table", "sql", "timeout", "more"]), json_values))
def test_strict_is_lenient_plus_no_further_fields(value):
    lenient, strict = (
        compile_schema(DB_PARAMS).is_valid(value),
        compile_schema(DB_PARAMS, strict_inputs=True).is_valid(value),
    )

    assert strict == (lenient and "more" not in value)


@pytest.mark.req("R-4.10-01")
@given(value=st.dictionaries(st.sampled_from(["table", "sql", "timeout"]), st.sampled_from(["a", "A", 1, 0, None])))
def test_a_pydantic_model_and_a_written_schema_judge_alike(value):
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model(
        "DbParams",
        table=(str, pydantic.Field(pattern="^[a-z][a-z0-9_]*$")),
        sql=str,
        timeout=(int, pydantic.Field(30, ge=1, le=300)),
    )

    assert compile_schema(schema_document(model)).is_valid(value) == compile_schema(DB_PARAMS).is_valid(value)
