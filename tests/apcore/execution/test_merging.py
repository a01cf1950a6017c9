from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apcore import deep_merge, deep_merge_chunks
from apcore.errors import ModuleExecuteError
from apcore.execution.merging import MAX_MERGE_DEPTH, MergedChunks

KEYS = st.sampled_from("abcd")
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
VALUES = st.recursive(SCALARS | st.lists(SCALARS, max_size=3), lambda inner: st.dictionaries(KEYS, inner, max_size=3))
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


def of_one_shape(draw: st.DrawFn, depth: int = 0) -> dict[str, Any]:
    """Objects in which "a" and "b" are always objects and "c" and "d" never."""
    chunk: dict[str, Any] = {}
    for key in draw(st.sets(KEYS)):
        if key in "ab" and depth < 3:
            chunk[key] = of_one_shape(draw, depth + 1)
        elif key in "cd":
            chunk[key] = draw(SCALARS | st.lists(SCALARS, max_size=2))
    return chunk


SHAPED = st.composite(of_one_shape)()


def nested(levels: int, leaf: dict[str, Any]) -> dict[str, Any]:
    """``leaf`` inside ``levels`` objects."""
    for _ in range(levels):
        leaf = {"in": leaf}
    return leaf


@pytest.mark.req("R-12.2-50")
def test_nested_objects_keep_what_both_chunks_bring() -> None:
    assert deep_merge({"a": {"b": 1}}, {"a": {"c": 2}}) == {"a": {"b": 1, "c": 2}}


@pytest.mark.req("R-12.2-51")
def test_three_levels_lose_no_sibling() -> None:
    chunks = [
        {"order": {"customer": {"name": "Ann"}}},
        {"order": {"customer": {"city": "Oslo"}, "lines": 2}},
        {"order": {"customer": {"name": "Anna"}}},
    ]
    assert deep_merge_chunks(chunks) == {"order": {"customer": {"name": "Anna", "city": "Oslo"}, "lines": 2}}


@pytest.mark.req("R-12.2-52")
def test_arrays_are_replaced() -> None:
    assert deep_merge({"l": [1, {"x": 1}]}, {"l": [2]}) == {"l": [2]}


@pytest.mark.req("R-12.2-56")
@pytest.mark.parametrize(
    ("before", "after"), [({"b": 1}, 5), (5, {"b": 1}), ({"b": 1}, None), ([1], {"b": 1}), ("x", "y"), (None, 0)]
)
def test_a_value_of_another_type_replaces(before: Any, after: Any) -> None:
    assert deep_merge({"a": before, "k": 1}, {"a": after}) == {"a": after, "k": 1}


@pytest.mark.req("R-12.2-53")
def test_levels_below_the_cap_are_merged_and_the_next_is_replaced() -> None:
    inside = MAX_MERGE_DEPTH - 1
    assert deep_merge(nested(inside, {"x": 1}), nested(inside, {"y": 2})) == nested(inside, {"x": 1, "y": 2})
    assert deep_merge(nested(inside + 1, {"x": 1}), nested(inside + 1, {"y": 2})) == nested(inside + 1, {"y": 2})


@pytest.mark.req("R-12.2-53")
def test_adversarial_depth_ends_without_a_recursion_error() -> None:
    merged = deep_merge_chunks([nested(20_000, {"x": 1}), nested(20_000, {"y": 2})])
    depth = 0
    while "in" in merged:
        merged, depth = merged["in"], depth + 1
    assert (depth, merged) == (20_000, {"y": 2})


@pytest.mark.req("R-12.2-57")
@settings(max_examples=60)
@given(base=OBJECTS, chunk=OBJECTS)
def test_merging_changes_no_argument_and_shares_nothing_with_them(base: dict[str, Any], chunk: dict[str, Any]) -> None:
    before = copy.deepcopy((base, chunk))
    merged = deep_merge(base, chunk)
    ruin(merged)
    assert (base, chunk) == before


@settings(max_examples=60)
@given(value=OBJECTS)
def test_the_empty_chunk_is_the_identity_on_both_sides(value: dict[str, Any]) -> None:
    assert deep_merge(value, {}) == deep_merge({}, value) == value


@settings(max_examples=60)
@given(base=OBJECTS, chunk=OBJECTS)
def test_a_chunk_that_comes_twice_changes_nothing(base: dict[str, Any], chunk: dict[str, Any]) -> None:
    once = deep_merge(base, chunk)
    assert deep_merge(once, chunk) == once


@settings(max_examples=60)
@given(a=SHAPED, b=SHAPED, c=SHAPED)
def test_merging_is_associative_while_no_value_changes_between_object_and_other(a: Any, b: Any, c: Any) -> None:
    assert deep_merge(deep_merge(a, b), c) == deep_merge(a, deep_merge(b, c))


def test_and_it_is_not_where_one_does() -> None:
    a, b, c = {"k": {"x": 1}}, {"k": 5}, {"k": {"y": 2}}
    assert deep_merge(deep_merge(a, b), c) != deep_merge(a, deep_merge(b, c))


@settings(max_examples=60)
@given(chunks=st.lists(OBJECTS, max_size=5))
def test_chunks_merge_as_one_after_the_other(chunks: list[dict[str, Any]]) -> None:
    expected: dict[str, Any] = {}
    for chunk in chunks:
        expected = deep_merge(expected, chunk)
    assert deep_merge_chunks(chunks) == expected


def test_a_result_that_grows_past_its_limit_is_refused() -> None:
    merged = MergedChunks(MAX_MERGE_DEPTH, 1_000)
    merged.add({"a": "x" * 600})
    with pytest.raises(ModuleExecuteError, match=r"larger than 1,000 bytes"):
        merged.add({"b": "x" * 600})


def test_chunks_that_replace_each_other_may_be_many() -> None:
    merged = MergedChunks(MAX_MERGE_DEPTH, 1_000)
    for number in range(500):
        merged.add({"progress": number, "text": "x" * 100})
    assert merged.value["progress"] == 499


def test_without_a_limit_anything_fits_and_odd_values_have_a_size_too() -> None:
    unlimited, limited = MergedChunks(MAX_MERGE_DEPTH, 0), MergedChunks(MAX_MERGE_DEPTH, 100)
    for merged in (unlimited, limited):
        merged.add({"a": object(), "b": {1, 2}})
    unlimited.add({"c": "x" * 1_000})
    assert len(unlimited.value["c"]) == 1_000


def ruin(value: Any) -> None:
    """Change every object and array inside."""
    if isinstance(value, dict):
        for each in value.values():
            ruin(each)
        value["ruined"] = True
    elif isinstance(value, list):
        value.append("ruined")
