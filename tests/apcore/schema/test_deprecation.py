import pytest

from apcore.schema import compile_schema, deprecated_fields

MARK = {"since": "1.1.0", "removal": "2.0.0", "replacement": "options.max_retries", "message": "Please change."}


@pytest.mark.req("R-4.12-03")
def test_the_mark_is_read_in_full():
    schema = {"properties": {"retries": {"type": "integer", "x-deprecated": MARK}}}

    (field,) = deprecated_fields(schema, {"retries": 3})
    assert (field.path, field.since, field.removal) == ("/retries", "1.1.0", "2.0.0")
    assert str(field) == (
        "The field '/retries' is deprecated since 1.1.0; it will be removed in 2.0.0; use 'options.max_retries'; "
        "Please change."
    )
    assert deprecated_fields(schema, {}) == []


@pytest.mark.req("R-4.12-03")
@pytest.mark.parametrize(
    ("schema", "value", "paths"),
    [
        ({"properties": {"a": {"properties": {"b": {"x-deprecated": MARK}}}}}, {"a": {"b": 1}}, ["/a/b"]),
        ({"items": {"properties": {"b": {"x-deprecated": {}, "x-own": 1}}}}, [{"b": 1}], []),
        ({"items": {"properties": {"b": {"x-deprecated": True}}}}, [{"b": 1}, {}, {"b": 2}], ["/0/b", "/2/b"]),
        ({"prefixItems": [{}, {"x-deprecated": MARK}]}, [1, 2], ["/1"]),
        ({"allOf": [{"properties": {"a": {"x-deprecated": MARK}}}]}, {"a": 1}, ["/a"]),
        ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"x-deprecated": MARK}}}, {"a": 1}, ["/a"]),
        ({"additionalProperties": {"x-deprecated": MARK}}, {"a": 1}, ["/a"]),
        ({"properties": {"a": {}}}, {"a": 1}, []),
        ({"x-deprecated": MARK}, {"a": 1}, []),
        ({"properties": {"a": {"x-deprecated": MARK}}}, "text", []),
    ],
)
def test_fields_are_found_where_they_are_used(schema, value, paths):
    assert [each.path for each in deprecated_fields(schema, value)] == paths


def test_trees_come_to_an_end():
    node = {"properties": {"old": {"x-deprecated": MARK}, "next": {"$ref": "#"}}}

    assert [each.path for each in deprecated_fields(node, {"next": {"next": {"old": 1}}})] == ["/next/next/old"]


@pytest.mark.req("R-4.12-03")
def test_using_such_a_field_as_an_input_is_logged(caplog):
    schema = {"properties": {"retries": {"type": "integer", "x-deprecated": MARK}, "other": {}}}

    compile_schema(schema, strict_inputs=True).validate({"other": 1})
    compile_schema(schema).validate({"retries": 3})
    assert caplog.messages == []
    compile_schema(schema, strict_inputs=True).validate({"retries": 3})
    assert caplog.messages == [str(deprecated_fields(schema, {"retries": 3})[0])]
