import json

import pytest

from apcore.errors import SchemaCircularRefError, SchemaNotFoundError, SchemaParseError
from apcore.schema import resolve_ref

ERROR_DETAIL = {"type": "object", "properties": {"field": {"type": "string"}}}


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        file = tmp_path / "schemas" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
        return file

    return write


@pytest.fixture
def resolve(tmp_path):
    def resolve(reference, current_file="current.schema.json", **options):
        schemas = tmp_path / "schemas"
        return resolve_ref(reference, schemas / current_file, schemas, **options)

    return resolve


@pytest.mark.req("R-4.11-01", "R-4.11-03")
def test_a_reference_into_the_same_file(write, resolve):
    write("current.schema.json", {"definitions": {"ErrorDetail": ERROR_DETAIL}})

    assert resolve("#/definitions/ErrorDetail") == ERROR_DETAIL


@pytest.mark.req("R-4.11-01")
def test_an_empty_reference_is_refused(write, resolve):
    write("current.schema.json", {"type": "object"})

    with pytest.raises(SchemaParseError, match="empty"):
        resolve("")


@pytest.mark.req("R-4.11-01", "R-4.11-04")
@pytest.mark.parametrize(
    "reference", ["../common/error.schema.json#/definitions/ErrorDetail", "../common/whole.schema.json"]
)
def test_a_reference_to_another_file_is_relative_to_the_current_one(write, resolve, reference):
    write("common/error.schema.json", {"definitions": {"ErrorDetail": ERROR_DETAIL}})
    write("common/whole.schema.json", ERROR_DETAIL)
    write("executor/current.schema.json", {})

    assert resolve(reference, "executor/current.schema.json") == ERROR_DETAIL


@pytest.mark.req("R-4.11-01", "R-4.11-05")
@pytest.mark.parametrize("keyword", ["definitions", "$defs"])
@pytest.mark.parametrize("name", ["common.types.error.schema.json", "common/types/error.schema.json"])
def test_a_reference_by_canonical_id(write, resolve, keyword, name):
    write(name, {keyword: {"ErrorDetail": ERROR_DETAIL}, "type": "object"})
    write("deep/down/current.schema.json", {})

    for reference in ("apcore://common.types.error/ErrorDetail", f"apcore://common.types.error#/{keyword}/ErrorDetail"):
        assert resolve(reference, "deep/down/current.schema.json") == ERROR_DETAIL
    assert resolve("apcore://common.types.error") == {"type": "object"}


@pytest.mark.req("R-4.11-06")
def test_a_chain_is_followed_to_its_end_through_files(write, resolve):
    write("current.schema.json", {"$defs": {"a": {"$ref": "b/b.schema.json#/$defs/b"}}})
    write("b/b.schema.json", {"$defs": {"b": {"$ref": "./c.schema.json#/$defs/c"}}})
    write("b/c.schema.json", {"$defs": {"c": {"type": "array", "items": {"$ref": "#/$defs/d"}}, "d": {"type": "null"}}})

    assert resolve("#/$defs/a") == {"type": "array", "items": {"type": "null"}}


@pytest.mark.req("R-4.11-10")
def test_pointers_are_decoded(write, resolve):
    write("current.schema.json", {"definitions": {"a/b~c d": {"type": "null"}}})

    assert resolve("#/definitions/a~1b~0c%20d") == {"type": "null"}


@pytest.mark.req("R-4.11-09")
def test_the_same_pointer_in_two_files_is_no_circle(write, resolve):
    write("current.schema.json", {"definitions": {"X": {"$ref": "other.schema.json#/definitions/X"}}})
    write("other.schema.json", {"definitions": {"X": {"type": "string"}}})

    assert resolve("#/definitions/X") == {"type": "string"}


@pytest.mark.req("R-4.11-08")
def test_using_a_definition_twice_is_no_circle(write, resolve):
    both = {"properties": {"from": {"$ref": "#/$defs/day"}, "to": {"$ref": "#/$defs/day"}}}
    write("current.schema.json", {"$defs": {"day": {"format": "date"}, "both": both}})

    assert resolve("#/$defs/both") == {"properties": {"from": {"format": "date"}, "to": {"format": "date"}}}


@pytest.mark.req("R-4.11-02", "R-4.15-06")
@pytest.mark.parametrize("start", ["a", "b", "c"])
def test_circles_through_files_come_to_an_end(write, resolve, start):
    for name, following in ("ab", "bc", "ca"):
        write(f"{name}.schema.json", {"properties": {"next": {"$ref": f"./{following}.schema.json"}}})

    with pytest.raises(SchemaCircularRefError):
        resolve(f"./{start}.schema.json", f"{start}.schema.json")


@pytest.mark.req("R-4.15-06")
def test_the_documented_circle(write, resolve):
    write("user.schema.json", {"$ref": "./team.schema.json#/definitions/team"})
    write("team.schema.json", {"definitions": {"team": {"$ref": "./user.schema.json"}}})

    with pytest.raises(SchemaCircularRefError, match=r"team\.schema\.json"):
        resolve("./user.schema.json")


@pytest.mark.req("R-4.11-02")
def test_a_reference_that_was_visited_is_a_circle(write, resolve):
    write("current.schema.json", {"$defs": {"a": {}}})

    with pytest.raises(SchemaCircularRefError):
        resolve("#/$defs/a", visited_refs={"#/$defs/a"})


def chain(length):
    steps = {f"s{number}": {"$ref": f"#/$defs/s{number + 1}"} for number in range(1, length)}
    return {"$defs": {**steps, f"s{length}": {"type": "null"}}}


@pytest.mark.req("R-4.11-07", "R-4.15-01")
@pytest.mark.parametrize(("length", "limit"), [(32, {}), (2, {"max_ref_depth": 2})])
def test_depth_has_a_limit(write, resolve, length, limit):
    write("current.schema.json", chain(length))
    assert resolve("#/$defs/s1", **limit) == {"type": "null"}

    write("current.schema.json", chain(length + 1))
    with pytest.raises(SchemaCircularRefError, match="deeper than"):
        resolve("#/$defs/s1", **limit)


@pytest.mark.req("R-4.15-01")
def test_wide_and_deep_definitions_do_not_fill_the_memory(write, resolve):
    def twice(number):
        return {"prefixItems": [{"$ref": f"#/$defs/s{number + 1}"}] * 2}

    write("current.schema.json", {"$defs": {f"s{number}": twice(number) for number in range(40)}})

    with pytest.raises((SchemaParseError, SchemaCircularRefError)):
        resolve("#/$defs/s0")


@pytest.mark.req("R-4.15-02")
@pytest.mark.parametrize(
    "reference",
    [
        "./absent.schema.json",
        "#/definitions/absent",
        "#anchor",
        "other.schema.json#/absent",
        "apcore://absent.module/X",
        "apcore://other/Absent",
        "apcore://../secret",
        "https://example.org/schema.json",
        "file:///etc/passwd",
    ],
)
def test_targets_that_do_not_exist(write, resolve, reference):
    write("current.schema.json", {})
    write("other.schema.json", {})

    with pytest.raises(SchemaNotFoundError) as caught:
        resolve(reference)
    assert reference in caught.value.message or caught.value.details["file"]


@pytest.mark.parametrize(
    "reference", ["../secret.json", "../secret.json#/a", "%2e%2e/secret.json", "link.schema.json", "linked/secret.json"]
)
def test_nothing_outside_of_the_directory_is_read(tmp_path, write, resolve, reference):
    write("current.schema.json", {})
    (tmp_path / "secret.json").write_text('{"a": {"const": "secret"}}')
    (tmp_path / "schemas" / "link.schema.json").symlink_to(tmp_path / "secret.json")
    (tmp_path / "schemas" / "linked").symlink_to(tmp_path)

    with pytest.raises(SchemaNotFoundError, match="outside of the schemas directory"):
        resolve(reference)


def test_an_absolute_path_is_no_way_out(tmp_path, write, resolve):
    write("current.schema.json", {})
    (tmp_path / "secret.json").write_text("{}")

    with pytest.raises(SchemaNotFoundError, match="outside"):
        resolve(str(tmp_path / "secret.json"))


def test_links_inside_of_the_directory_are_fine(tmp_path, write, resolve):
    write("other.schema.json", ERROR_DETAIL)
    (tmp_path / "schemas" / "link.schema.json").symlink_to(tmp_path / "schemas" / "other.schema.json")
    write("current.schema.json", {})

    assert resolve("link.schema.json") == ERROR_DETAIL


def test_words_beside_a_reference_win_and_conditions_add_up(write, resolve):
    text = {"type": "string", "description": "Any text", "minLength": 2}
    described = {"$ref": "#/$defs/text", "description": "A name", "x-sensitive": True, "nullable": True}
    write(
        "current.schema.json", {"$defs": {"text": text, "a": described, "b": {"$ref": "#/$defs/text", "minLength": 1}}}
    )

    assert resolve("#/$defs/a") == {**text, "description": "A name", "x-sensitive": True, "nullable": True}
    assert resolve("#/$defs/b") == {"allOf": [text, {"minLength": 1}]}


def test_values_that_look_like_references_are_values(write, resolve):
    value = {
        "enum": [{"$ref": "#/nowhere"}],
        "properties": {"$ref": {"type": "string"}, "definitions": {"type": "null"}},
    }
    write("current.schema.json", {"$defs": {"a": value}})

    assert resolve("#/$defs/a") == value
