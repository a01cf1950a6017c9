"""YAML as all files are read."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from apcore.schema import read_yaml, yaml_fault, yaml_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: [1, yes, 2026-02-05, null, 1.5, 'x']", {"a": [1, True, "2026-02-05", None, 1.5, "x"]}),
        ("base: &b {x: 1}\nmore: {<<: *b, y: 2}", {"base": {"x": 1}, "more": {"x": 1, "y": 2}}),
        ("", None),
        ("# only a comment", None),
    ],
)
def test_a_text_has_the_values_of_json(text: str, value: Any) -> None:
    assert read_yaml(text) == value


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: 1\na: 2", "'a' stands twice"),
        ("1: a", "is no text"),
        ("? [a]\n: b", "unhashable key"),
        ("a: &a [*a]", "what contains it"),
        ("a: 0x_", "looks like a number"),
        ("a: " + "9" * 5000, "looks like a number"),
        ("a: *hunter2", "put a text that begins with"),
        ("a: !hunter2 x", "put a text that begins with"),
        ("a: 1\n---\nb: 2", "document"),
        ("a: \x00", "character"),
    ],
)
def test_what_is_wrong_is_told_without_what_stands_there(text: str, fault: str) -> None:
    with pytest.raises(yaml.YAMLError) as caught:
        read_yaml(text)
    assert fault in yaml_fault(caught.value)
    assert "hunter2" not in yaml_fault(caught.value)


def test_only_aliases_can_stand_for_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "_MOST_NODES", 50)
    assert len(read_yaml(f"[{','.join('1' * 200)}]")) == 200
    with pytest.raises(yaml.YAMLError) as caught:
        read_yaml("[&a [1,1,1,1,1,1,1,1,1], &b [*a,*a,*a,*a,*a,*a,*a,*a], [*b,*b,*b,*b]]")
    assert "too many values" in yaml_fault(caught.value)


def test_what_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises((yaml.YAMLError, RecursionError)):
        read_yaml("[" * 100_000)
