import os
import traceback
from pathlib import Path

import pytest

from apcore.errors import SchemaNotFoundError, SchemaParseError
from apcore.schema import read_schema_file
from apcore.schema.files import SchemaFiles


@pytest.mark.req("R-4.15-04")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.schema.yaml", "input_schema: {type: object"),
        ("a.schema.yaml", "a: b: c"),
        ("a.schema.yaml", "a: !!python/object:os.system {}"),
        ("a.schema.yaml", "a: 1\na: 2"),
        ("a.schema.yaml", "yes: 1"),
        ("a.schema.yaml", "- a\n- b"),
        ("a.schema.yaml", ""),
        ("a.schema.json", '{"type": "object"'),
        ("a.schema.json", "type: object"),
        ("a.schema.json", "[" * 100_000),
    ],
)
def test_what_is_no_schema_file_is_refused_with_its_name(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text)

    with pytest.raises(SchemaParseError, match=name) as caught:
        read_schema_file(file)
    assert caught.value.details["file"] == str(file)


@pytest.mark.req("R-4.15-04")
def test_other_encodings_are_refused(tmp_path):
    (tmp_path / "a.schema.yaml").write_bytes("title: Größe".encode("latin-1"))

    with pytest.raises(SchemaParseError):
        read_schema_file(tmp_path / "a.schema.yaml")


def test_dates_stay_texts_and_anchors_work(tmp_path):
    file = tmp_path / "a.schema.yaml"
    file.write_text("a: &day {default: 2026-01-31}\nb: {<<: *day, type: string}\n")

    assert read_schema_file(file) == {"a": {"default": "2026-01-31"}, "b": {"default": "2026-01-31", "type": "string"}}


@pytest.mark.req("R-4.15-02")
def test_directories_and_pipes_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.schema.yaml")

    for name in ("absent.schema.yaml", "pipe.schema.yaml", "."):
        with pytest.raises(SchemaNotFoundError):
            read_schema_file(tmp_path / name)


@pytest.mark.req("R-4.15-09")
def test_storage_that_does_not_answer(tmp_path, monkeypatch):
    def time_out(self, *args, **kwargs):
        raise TimeoutError("the share is gone")

    (tmp_path / "a.schema.yaml").write_text("{}")
    monkeypatch.setattr(Path, "read_text", time_out)

    with pytest.raises(SchemaParseError) as caught:
        read_schema_file(tmp_path / "a.schema.yaml")
    assert caught.value.details["cause"] == "timeout"


def test_a_flat_name_comes_before_a_nested_one(tmp_path):
    files = SchemaFiles(tmp_path)
    nested = tmp_path / "a" / "b.schema.json"
    nested.parent.mkdir()
    nested.write_text("{}")
    assert files.find("a.b") == nested.resolve()

    (tmp_path / "a.b.schema.yml").write_text("{}")
    assert files.find("a.b") == (tmp_path / "a.b.schema.yml").resolve()


@pytest.mark.parametrize("canonical_id", ["", "..", "../a", "a/b", "/etc/passwd", "A.b"])
def test_what_is_no_id_has_no_file(tmp_path, canonical_id):
    assert SchemaFiles(tmp_path).find(canonical_id) is None


def test_a_file_that_changed_is_read_again(tmp_path):
    files, file = SchemaFiles(tmp_path), tmp_path / "a.schema.json"
    file.write_text('{"a": 1}')
    assert files.read(file) is files.read(file)

    file.write_text('{"a": 22}')
    assert files.read(file) == {"a": 22}


@pytest.mark.parametrize(
    "text",
    [
        "password: [hunter2",
        "a: 'hunter2\n",
        "password: *hunter2",
        "password: !hunter2 x",
        "password: !h!hunter2 x",
        "password: hunter2: x",
        "a: &hunter2 1\nb: &hunter2 2\nc: [",
        "password: @hunter2",
        "password: %hunter2",
        "\thunter2: 1",
    ],
)
def test_an_error_says_where_and_does_not_show_the_file(tmp_path, text):
    file = tmp_path / "a.yaml"
    file.write_text(text)

    with pytest.raises(SchemaParseError, match=r"\(line \d+, column \d+\)") as caught:
        read_schema_file(file)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value.details)
    assert "hunter2" not in shown.replace(repr(text), "")


@pytest.mark.parametrize("text", ["a: &x\n  b: *x\n", "a: &x [*x]\n", "a: &x\n  b: [1, {c: *x}]\n"])
def test_an_alias_of_what_contains_it_is_refused(tmp_path, text):
    file = tmp_path / "a.yaml"
    file.write_text(text)

    with pytest.raises(SchemaParseError, match="stands for what contains it"):
        read_schema_file(file)


def test_aliases_of_aliases_cannot_fill_the_memory(tmp_path):
    file = tmp_path / "a.yaml"
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    file.write_text("\n".join(lines))

    with pytest.raises(SchemaParseError, match="too many values"):
        read_schema_file(file)
