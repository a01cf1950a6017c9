import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.schema import breaking_changes, compile_schema, is_backward_compatible


def object_schema(properties, required=(), **more):
    return {"type": "object", "properties": properties, "required": list(required), **more}


BASE = object_schema(
    {
        "table": {"type": "string", "minLength": 3, "maxLength": 9},
        "mode": {"enum": ["fast", "safe"]},
        "retries": {"type": "integer", "minimum": 1, "maximum": 5, "multipleOf": 2},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    },
    ["table"],
)


def changed(name, **keywords):
    properties = {**BASE["properties"], name: {**BASE["properties"].get(name, {}), **keywords}}
    return {**BASE, "properties": properties}


@pytest.mark.req("R-4.12-01")
@pytest.mark.parametrize(
    "new",
    [
        BASE,
        changed("note", type="string", default=""),
        changed("table", minLength=1),
        changed("table", maxLength=20),
        changed("mode", enum=["fast", "safe", "slow"]),
        changed("mode", type="string"),
        changed("retries", minimum=0, maximum=9),
        changed("retries", multipleOf=1),
        changed("retries", type="number"),
        changed("retries", type=["integer", "null"]),
        changed("tags", maxItems=4),
        changed("tags", items={"type": ["string", "integer"]}),
        changed("table", description="What it is called"),
        {**BASE, "required": []},
        {**BASE, "properties": {key: value for key, value in BASE["properties"].items() if key != "tags"}},
    ],
)
def test_changes_that_break_nothing(new):
    assert list(breaking_changes(BASE, new)) == []
    assert is_backward_compatible(BASE, new)


@pytest.mark.req("R-4.12-01")
@pytest.mark.parametrize(
    ("new", "path", "keyword"),
    [
        (object_schema({}, []), "/table", "properties"),
        (changed("retries", type="string"), "/retries", "type"),
        (changed("table", minLength=4), "/table", "minLength"),
        (changed("table", maxLength=8), "/table", "maxLength"),
        (changed("table", pattern="^a"), "/table", "pattern"),
        (changed("table", format="email"), "/table", "format"),
        (changed("mode", enum=["fast"]), "/mode", "enum"),
        (changed("mode", enum=["fast", "safe"], const="fast"), "/mode", "enum"),
        (changed("retries", minimum=2), "/retries", "minimum"),
        (changed("retries", exclusiveMinimum=1), "/retries", "exclusiveMinimum"),
        (changed("retries", multipleOf=3), "/retries", "multipleOf"),
        (changed("tags", items={"type": "integer"}), "/tags/items", "type"),
        (changed("tags", uniqueItems=True), "/tags", "uniqueItems"),
        (changed("tags", minItems=1), "/tags", "minItems"),
        (changed("tags", contains={"const": "a"}), "/tags/contains", "type"),
        (changed("table", **{"not": {"const": "x"}}), "/table", "not"),
        ({**BASE, "required": ["table", "mode"]}, "/mode", "required"),
        ({**BASE, "additionalProperties": False}, "/additionalProperties", "not"),
        ({**BASE, "allOf": [{"required": ["mode"]}]}, "", "allOf"),
        ({**BASE, "patternProperties": {"^x": {"type": "string"}}}, "/^x", "type"),
    ],
)
def test_changes_that_break_something(new, path, keyword):
    changes = {(each.path, each.keyword) for each in breaking_changes(BASE, new)}

    assert (path, keyword) in changes
    assert not is_backward_compatible(BASE, new)


def test_a_field_that_was_taken_out_of_a_closed_object_is_refused():
    old = object_schema({"a": {}, "b": {}}, additionalProperties=False)
    new = object_schema({"a": {}}, additionalProperties=False)

    assert [each.path for each in breaking_changes(old, new)] == ["/b"]


def test_forms_may_be_added_and_not_removed():
    text, number = {"type": "string"}, {"type": "number"}

    assert is_backward_compatible(text, {"anyOf": [text, number]})
    assert is_backward_compatible({"anyOf": [text, number]}, {"anyOf": [number, {"type": "string"}, {"type": "null"}]})
    assert not is_backward_compatible({"anyOf": [text, number]}, {"anyOf": [number]})
    assert not is_backward_compatible({"anyOf": [text, number]}, text)


def test_limits_of_a_pair():
    assert is_backward_compatible({"exclusiveMinimum": 5}, {"minimum": 5})
    assert not is_backward_compatible({"minimum": 5}, {"exclusiveMinimum": 5})
    assert is_backward_compatible({"maximum": 4}, {"exclusiveMaximum": 5})


def test_references_are_followed_and_trees_come_to_an_end():
    def tree(label):
        node = {"type": "object", "properties": {"label": label, "children": {"items": {"$ref": "#/$defs/node"}}}}
        return {"$ref": "#/$defs/node", "$defs": {"node": node}}

    assert is_backward_compatible(tree({"type": "integer"}), tree({"type": "number"}))
    assert not is_backward_compatible(tree({"type": "number"}), tree({"type": "integer"}))
    assert not is_backward_compatible({}, tree({"type": "integer"}))


SCALARS = st.one_of(
    st.builds(lambda low, high: {"type": "integer", "minimum": low, "maximum": high}, *[st.integers(-3, 3)] * 2),
    st.builds(lambda low: {"type": "string", "minLength": low}, st.integers(0, 3)),
    st.builds(
        lambda options: {"enum": options}, st.lists(st.sampled_from(["a", "bb", 1, None]), min_size=1, unique=True)
    ),
    st.builds(lambda low: {"type": "number", "exclusiveMinimum": low}, st.integers(-3, 3)),
    st.builds(lambda kind: {"type": kind, "nullable": True}, st.sampled_from(["string", "integer"])),
    st.builds(
        lambda kinds: {"anyOf": [{"type": kind} for kind in kinds]},
        st.lists(st.sampled_from(["string", "integer"]), min_size=1),
    ),
)
SCHEMAS = st.one_of(
    SCALARS,
    st.builds(lambda items: {"type": "array", "items": items}, SCALARS),
    st.builds(lambda a, needed: object_schema({"a": a}, needed), SCALARS, st.sampled_from([(), ("a",)])),
)
VALUES = st.recursive(
    st.sampled_from([None, "", "a", "bb", "ccc", 0, 1, -2, 3, 2.5, True]),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.just("a"), inner, max_size=1)),
    max_leaves=3,
)


@given(SCHEMAS, SCHEMAS, VALUES)
def test_what_fitted_the_old_schema_fits_a_compatible_one(old, new, value):
    if is_backward_compatible(old, new) and compile_schema(old).is_valid(value):
        assert compile_schema(new).is_valid(value)


@given(SCHEMAS)
def test_every_schema_is_compatible_with_itself(schema):
    assert is_backward_compatible(schema, schema)
