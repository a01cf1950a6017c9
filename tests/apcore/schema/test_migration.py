from copy import deepcopy

import pytest

from apcore.errors import MigrationFailedError, VersionIncompatibleError
from apcore.schema import (
    MigrationStep,
    add_field,
    change_type,
    compile_schema,
    migrate_schema,
    remove_field,
    rename_field,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "table": {"type": "string"},
        "options": {"type": "object", "properties": {"retries": {"type": "integer"}}},
    },
    "required": ["table"],
}


def never(schema):
    raise AssertionError("not to be called")


@pytest.mark.req("R-13.4-01")
def test_the_same_version_is_the_same_schema():
    assert migrate_schema(SCHEMA, "1.0.0", "1.0.0", [("1.0.0", "1.1.0", never)]) is SCHEMA


@pytest.mark.req("R-13.4-03")
def test_a_version_may_be_written_short():
    """As in §13.4: 1.0 → 1.1 → 1.2."""
    steps = [("1.1", "1.2", add_field("b", {"type": "integer"}, default=1)), ("1.0.0", "1.1", lambda schema: schema)]
    assert migrate_schema(SCHEMA, "1.0", "1.2.0", steps)["properties"]["b"] == {"type": "integer", "default": 1}
    assert migrate_schema(SCHEMA, "1.0", "1.0.0") is SCHEMA


@pytest.mark.req("R-13.4-02")
@pytest.mark.parametrize("steps", [[], [("1.0.0", "1.1.0", never)], [("1.1.0", "9.9.0", never)]])
def test_without_a_path_there_is_no_migration(steps):
    with pytest.raises(MigrationFailedError, match="No available migration path") as caught:
        migrate_schema(SCHEMA, "1.0.0", "9.9.0", steps)
    assert caught.value.details == {"from_version": "1.0.0", "to_version": "9.9.0"}


@pytest.mark.req("R-13.4-03")
def test_steps_are_taken_in_order_on_a_copy():
    before = deepcopy(SCHEMA)
    steps = [
        MigrationStep("1.1.0", "1.2.0", lambda schema: {**schema, "title": schema["title"] + "b"}),
        MigrationStep("1.0.0", "1.1.0", lambda schema: schema | {"title": "a"}),
        MigrationStep("1.0.0", "0.9.0", never),
    ]

    assert migrate_schema(SCHEMA, "1.0.0", "1.2.0", steps) == {**SCHEMA, "title": "ab"}
    assert before == SCHEMA


@pytest.mark.req("R-13.4-03")
def test_the_shortest_path_is_taken():
    steps = [
        ("1.0.0", "1.1.0", never),
        ("1.1.0", "1.2.0", never),
        ("1.0.0", "1.2.0", lambda schema: {**schema, "title": "direct"}),
    ]

    assert migrate_schema(SCHEMA, "1.0.0", "1.2.0", steps)["title"] == "direct"


@pytest.mark.req("R-13.4-03")
@pytest.mark.parametrize(
    "bad_step",
    [
        lambda schema: schema | {"type": 5},
        lambda schema: None,
        lambda schema: schema["absent"],
        lambda schema: schema | {"$ref": "#/$defs/absent"},
        rename_field("absent", "present"),
    ],
)
def test_a_bad_step_is_named(bad_step):
    steps = [("1.0.0", "1.1.0", dict), ("1.1.0", "1.2.0", bad_step)]

    with pytest.raises(MigrationFailedError, match=r"from 1\.1\.0 to 1\.2\.0 failed") as caught:
        migrate_schema(SCHEMA, "1.0.0", "1.2.0", steps)
    assert caught.value.details == {"from_version": "1.1.0", "to_version": "1.2.0"}


def test_a_step_sees_a_copy_even_if_it_fails():
    def spoil(schema):
        schema["properties"].clear()
        raise ValueError("half way")

    before = deepcopy(SCHEMA)
    with pytest.raises(MigrationFailedError, match="ValueError: half way"):
        migrate_schema(SCHEMA, "1.0.0", "1.1.0", [("1.0.0", "1.1.0", spoil)])
    assert before == SCHEMA


def test_versions_are_checked_first():
    with pytest.raises(VersionIncompatibleError):
        migrate_schema(SCHEMA, "one", "1.1.0", [])


def migrated(migrate, version="1.1.0", schema=SCHEMA):
    return migrate_schema(schema, "1.0.0", version, [("1.0.0", version, migrate)])


@pytest.mark.req("R-13.4-04")
def test_a_field_is_added_with_its_default():
    schema = migrated(add_field("options.limit", {"type": "integer"}, default=10))

    assert schema["properties"]["options"]["properties"]["limit"] == {"type": "integer", "default": 10}
    assert schema["required"] == ["table"]


@pytest.mark.req("R-13.4-04")
def test_a_renamed_field_answers_to_both_names():
    schema = migrated(rename_field("table", "relation"))
    validator = compile_schema(schema, strict_inputs=True)

    assert schema["properties"]["relation"] == {"type": "string"}
    assert schema["properties"]["table"]["x-deprecated"] == {"replacement": "relation"}
    assert [validator.is_valid(each) for each in ({"relation": "a"}, {"table": "a"}, {}, {"relation": 1})] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.req("R-13.4-04", "R-13.2-01")
def test_a_field_is_deprecated_before_it_is_removed():
    deprecated = migrated(remove_field("table", "1.1.0"))
    assert deprecated["properties"]["table"]["x-deprecated"] == {"since": "1.1.0", "removal": "1.3.0"}
    assert deprecated["required"] == []

    with pytest.raises(MigrationFailedError, match="too early"):
        migrated(remove_field("table", "1.2.0"), "1.2.0", deprecated)
    for version in ("1.3.0", "2.0.0"):
        assert "table" not in migrated(remove_field("table", version), version, deprecated)["properties"]


@pytest.mark.req("R-13.4-04")
def test_a_type_changes_with_the_major_version_alone():
    assert migrated(change_type("table", ["integer", "null"]), "2.0.0")["properties"]["table"]["type"] == [
        "integer",
        "null",
    ]
    with pytest.raises(MigrationFailedError, match="new major version"):
        migrated(change_type("table", "integer"))


def test_the_parts_of_a_schema_file_are_checked():
    file = {"version": "1.0.0", "input_schema": SCHEMA, "output_schema": {"type": "object"}}

    assert migrated(lambda each: each | {"version": "1.1.0"}, schema=file)["version"] == "1.1.0"
    with pytest.raises(MigrationFailedError):
        migrated(lambda each: each | {"output_schema": {"type": "thing"}}, schema=file)
