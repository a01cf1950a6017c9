"""Whatever a value holds, there is a JSON form of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import IntEnum
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.plain import plain


class _Mute:
    def __str__(self) -> str:
        raise RuntimeError


class _Rank(IntEnum):
    FIRST = 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": [1, None, True, "x", 1.5]}, {"a": [1, None, True, "x", 1.5]}),
        ((1, {2}), [1, [2]]),
        ({1: "a", None: "b", (1, 2): "c"}, {"1": "a", "None": "b", "(1, 2)": "c"}),
        ([float("nan"), float("inf")], [None, None]),
        (datetime(2026, 2, 5, 10, 30, tzinfo=UTC), "2026-02-05T10:30:00+00:00"),
        (date(2026, 2, 5), "2026-02-05"),
        (Decimal("1.10"), "1.10"),
        (PurePosixPath("a/b"), "a/b"),
        (_Rank.FIRST, 1),
        (ValueError("password=hunter2"), "ValueError"),
        (b"hunter2", "bytes"),
        (_Mute(), "_Mute"),
        pytest.param(10**5000, "(a number of 16610 bits)", id="huge"),
    ],
)
def test_what_json_has_no_form_for_is_told_in_another(value: Any, shown: Any) -> None:
    assert plain(value) == shown
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == shown


def test_what_is_told_of_the_rest_can_be_chosen() -> None:
    value = {("a", 1): _Mute(), "at": date(2026, 2, 5), 2: [1, None, "x"]}

    shown = {"a tuple": "a _Mute", "at": "a date", "2": [1, None, "x"]}
    assert plain(value, told=lambda each: f"a {type(each).__name__}") == shown


def test_what_contains_itself_is_cut_where_it_begins_again() -> None:
    value: dict[str, Any] = {"name": "ring"}
    value["next"] = {"next": value, "again": [value]}

    assert plain(value) == {"name": "ring", "next": {"next": "(contains itself)", "again": ["(contains itself)"]}}


def test_what_stands_twice_but_not_inside_itself_is_told_twice() -> None:
    part = {"a": 1}

    assert plain([part, part]) == [part, part]


def test_what_is_too_deep_is_cut() -> None:
    value: Any = "bottom"
    for _ in range(100_000):
        value = [value]

    assert "(too deep)" in json.dumps(plain(value))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=20,
    )
)
def test_json_stays_as_it_is_and_is_a_copy(value: Any) -> None:
    copy = plain(value)

    assert copy == value
    assert copy is not value or not isinstance(value, (list, Mapping))
