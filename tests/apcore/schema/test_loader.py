import json

import pytest
import yaml

from apcore.errors import (
    ConfigError,
    SchemaCircularRefError,
    SchemaNotFoundError,
    SchemaParseError,
    VersionIncompatibleError,
)
from apcore.schema import ModuleSchema, SchemaLoader, compile_schema

DB_PARAMS = """\
$schema: "https://apcore.dev/schema/v1"
version: "1.1.0"
previous_version: "1.0.0"
module_id: "executor.validator.db_params"
changes:
  - {type: added, field: options.retry_count, description: Added retry count configuration}
description: |
  Validates database operation parameters, checks table name format and SQL syntax safety.
  Suitable for pre-validation before executing SQL.
input_schema:
  type: object
  properties:
    table:
      type: string
      pattern: "^[a-z][a-z0-9_]*$"
      description: "Target database table name"
      x-llm-description: "Database table name, only lowercase letters, numbers, and underscores allowed"
      x-examples: ["user_info", "order_detail"]
    sql:
      type: string
      x-constraints: "Dangerous operations like DROP are not allowed"
      x-sensitive: true
    options:
      $ref: "./common/db_options.schema.yaml#/definitions/DBOptions"
    old_timeout:
      type: integer
      x-deprecated: {since: "1.1.0", removal: "2.0.0", replacement: timeout, message: Please use timeout instead}
  required: [table, sql]
  additionalProperties: false
output_schema:
  type: object
  properties:
    valid: {type: boolean}
    errors: {type: array, items: {$ref: "#/definitions/ErrorDetail"}}
  required: [valid]
error_schema:
  type: object
  properties:
    code: {type: string, enum: [INVALID_TABLE, DANGEROUS_SQL]}
    message: {type: string}
    details: {type: object}
  required: [code, message]
definitions:
  ErrorDetail: {type: object, properties: {code: {type: string}}}
"""
OPTIONS = {"definitions": {"DBOptions": {"type": "object", "properties": {"retry_count": {"type": "integer"}}}}}
MODULE_ID = "executor.validator.db_params"

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


@pytest.fixture
def schemas(tmp_path):
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "db_options.schema.yaml").write_text(yaml.safe_dump(OPTIONS))
    (tmp_path / f"{MODULE_ID}.schema.yaml").write_text(DB_PARAMS)
    return tmp_path


def write(folder, content, name="a.schema.json"):
    (folder / name).write_text(json.dumps(content))
    return SchemaLoader(folder)


@pytest.mark.req("R-12.2-03", "R-4.2-06", "R-4.2-07", "R-4.12-02")
def test_the_documented_file_is_read_with_every_part(schemas):
    schema = SchemaLoader(schemas).load(MODULE_ID)

    assert schema.input_schema["required"] == ["table", "sql"]
    assert schema.output_schema["properties"]["valid"] == {"type": "boolean"}
    assert schema.description.startswith("Validates database operation parameters")
    assert schema.error_codes == ("INVALID_TABLE", "DANGEROUS_SQL")
    assert (schema.module_id, schema.version, schema.previous_version) == (MODULE_ID, "1.1.0", "1.0.0")
    assert schema.changes[0]["field"] == "options.retry_count"


@pytest.mark.req("R-4.11-01", "R-4.11-03", "R-4.11-04")
def test_its_references_are_replaced(schemas):
    schema = SchemaLoader(schemas).load(MODULE_ID)

    assert schema.input_schema["properties"]["options"] == OPTIONS["definitions"]["DBOptions"]
    assert schema.output_schema["properties"]["errors"]["items"]["properties"] == {"code": {"type": "string"}}
    assert not compile_schema(schema.output_schema).is_valid({"valid": True, "errors": [{"code": 5}]})


@pytest.mark.req("R-4.2-04", "R-4.3-01", "R-4.12-03", "R-13.5-01")
def test_extensions_are_kept_and_unknown_words_do_no_harm(schemas, tmp_path):
    fields = SchemaLoader(schemas).load(MODULE_ID).input_schema["properties"]
    assert fields["table"]["x-examples"] == ["user_info", "order_detail"]
    assert fields["sql"]["x-sensitive"] is True
    assert fields["old_timeout"]["x-deprecated"]["replacement"] == "timeout"

    loader = write(tmp_path, {"input_schema": {"type": "object", "custom": 1, "x-custom": 2}, "future": True})
    assert loader.load("a").input_schema == {"type": "object", "custom": 1, "x-custom": 2}


@pytest.mark.req("R-4.2-03", "R-4.2-07")
def test_only_what_is_there_is_read(tmp_path):
    schema = write(tmp_path, {"input_schema": {}}).load("a")

    assert (schema.input_schema, schema.output_schema, schema.error_schema) == ({}, None, None)
    assert (schema.description, schema.version, schema.error_codes) == (None, None, ())


@pytest.mark.req("R-12.2-04")
def test_a_file_that_is_missing(tmp_path):
    loader = SchemaLoader(tmp_path)

    assert not loader.has("nope.x")
    with pytest.raises(SchemaNotFoundError) as caught:
        loader.load("nope.x")
    assert caught.value.details["module_id"] == "nope.x"


@pytest.mark.req("R-12.2-05", "R-4.15-04")
@pytest.mark.parametrize(
    "content",
    [
        {"input_schema": {"type": 5}},
        {"input_schema": []},
        {"input_schema": "text"},
        {"output_schema": {"properties": {"a": {"minimum": "low"}}}},
        {"description": 5},
        {"version": 1.0},
        {"version": "1.0"},
        {"previous_version": "old"},
        {"changes": {"type": "added"}},
        {"changes": ["added"]},
        [],
    ],
)
def test_a_file_that_is_wrong_is_named(tmp_path, content):
    with pytest.raises(SchemaParseError, match=r"a\.schema\.json"):
        write(tmp_path, content).load("a")


@pytest.mark.req("R-4.15-02")
def test_a_reference_without_target(tmp_path):
    with pytest.raises(SchemaNotFoundError):
        write(tmp_path, {"input_schema": {"$ref": "#/definitions/absent"}}).load("a")


@pytest.mark.req("R-4.15-06")
def test_the_documented_circle_of_two_files(tmp_path):
    write(tmp_path, {"definitions": {"team": {"$ref": "./user.schema.json"}}}, "team.schema.json")
    loader = write(tmp_path, {"$ref": "./team.schema.json#/definitions/team"}, "user.schema.json")

    with pytest.raises(SchemaCircularRefError):
        loader.load("user")


@pytest.mark.req("R-4.15-01")
def test_depth_is_limited_as_asked(tmp_path):
    steps = {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/c"}, "c": {"type": "object"}}
    write(tmp_path, {"$defs": steps, "input_schema": {"$ref": "#/$defs/a"}})

    assert SchemaLoader(tmp_path, max_ref_depth=3).load("a").input_schema == {"type": "object"}
    with pytest.raises(SchemaCircularRefError):
        SchemaLoader(tmp_path, max_ref_depth=2).load("a")


@pytest.mark.req("R-13.3-01", "R-13.3-03", "R-13.3-04")
@pytest.mark.parametrize("version", ["v2", "v0.9", "v1.4"])
def test_a_format_of_another_version_is_refused(tmp_path, version):
    with pytest.raises(VersionIncompatibleError):
        write(tmp_path, {"$schema": f"https://apcore.dev/schema/{version}"}).load("a")


@pytest.mark.req("R-13.3-01", "R-4.2-03")
@pytest.mark.parametrize("name", ["https://apcore.dev/schema/v1", "https://json-schema.org/draft/2020-12/schema", None])
def test_formats_that_are_read(tmp_path, name):
    assert write(tmp_path, {"$schema": name, "description": "Fine"}).load("a").description == "Fine"


def test_a_file_under_the_wrong_name_is_reported(tmp_path, caplog):
    write(tmp_path, {"module_id": "b"}).load("a")

    assert "names the module 'b'" in caplog.text


@pytest.mark.req("R-12.2-06")
def test_a_schema_is_validated_without_raising(schemas):
    loader = SchemaLoader(schemas)

    assert loader.validate({"type": "object"}) == []
    assert loader.validate(loader.load(MODULE_ID)) == []
    assert [each["path"] for each in loader.validate({"properties": {"a": {"pattern": "("}}})] == [
        "/properties/a/pattern"
    ]
    faults = loader.validate({"input_schema": {"type": 5}, "output_schema": {"$ref": "#/absent"}, "version": "1.0.0"})
    assert [(each["path"], each["code"]) for each in faults] == [
        ("/input_schema/type", "SCHEMA_PARSE_ERROR"),
        ("/output_schema", "SCHEMA_NOT_FOUND"),
    ]
    assert loader.validate({"input_schema": []})[0]["path"] == "/input_schema"


@pytest.fixture
def both(tmp_path):
    write(tmp_path, {"input_schema": TEXT, "output_schema": TEXT, "description": "From the file", "version": "2.0.0"})
    return tmp_path


@pytest.mark.req("R-4.9-01", "R-4.9-02")
def test_yaml_first(both):
    loader = SchemaLoader(both)
    native = ModuleSchema(NUMBER, NUMBER, "From the code")

    chosen = loader.select("a", native)
    assert (chosen.input_schema, chosen.output_schema) == (TEXT, TEXT)
    assert (chosen.description, chosen.version) == ("From the code", "2.0.0")
    assert loader.select("b", native) is native


@pytest.mark.req("R-4.9-02")
def test_yaml_first_takes_from_code_what_the_file_lacks(tmp_path):
    loader = write(tmp_path, {"input_schema": TEXT, "description": "From the file"})

    chosen = loader.select("a", ModuleSchema(NUMBER, NUMBER))
    assert (chosen.input_schema, chosen.output_schema, chosen.description) == (TEXT, NUMBER, "From the file")


@pytest.mark.req("R-4.9-03")
def test_native_first(both):
    loader = SchemaLoader(both, strategy="native_first")
    native = ModuleSchema(NUMBER, NUMBER)

    assert loader.select("a", native) is native
    assert loader.select("a", ModuleSchema(NUMBER)).output_schema == TEXT
    assert loader.select("a", ModuleSchema()).input_schema == TEXT


@pytest.mark.req("R-4.9-04")
def test_yaml_only(both):
    loader = SchemaLoader(both, strategy="yaml_only")

    assert loader.select("a", ModuleSchema(NUMBER, NUMBER)).input_schema == TEXT
    with pytest.raises(SchemaNotFoundError):
        loader.select("b", ModuleSchema(NUMBER, NUMBER))


@pytest.mark.req("R-4.9-01")
@pytest.mark.parametrize("options", [{"strategy": "json_first"}, {"max_ref_depth": 0}, {"max_ref_depth": "deep"}])
def test_settings_that_make_no_sense(options):
    with pytest.raises(ConfigError):
        SchemaLoader(**options)
    with pytest.raises(ConfigError):
        SchemaLoader.from_settings(options)


@pytest.mark.req("R-4.9-05", "R-4.9-01")
def test_the_directory_has_an_older_name(both, tmp_path_factory):
    older = {"paths": {"yaml_schemas": str(both)}}
    empty = str(tmp_path_factory.mktemp("empty"))

    assert SchemaLoader.from_settings(older).has("a")
    assert SchemaLoader.from_settings({"root": str(both), "paths": {"yaml_schemas": empty}}).has("a")
    assert not SchemaLoader.from_settings({**older, "root": empty}).has("a")
    assert SchemaLoader.from_settings({}).strategy == "yaml_first"
    assert SchemaLoader.from_settings({"strategy": "yaml_only"}).strategy == "yaml_only"
