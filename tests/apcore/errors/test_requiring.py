"""Arguments of the wrong type are refused in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import pytest

from apcore.errors import InvalidInputError, require, require_number, require_texts


@runtime_checkable
class _Speaker(Protocol):
    def speak(self) -> str: ...


class _Dog:
    def speak(self) -> str:
        return "woof"


@pytest.mark.parametrize(
    ("value", "kind"), [({}, Mapping), (_Dog(), _Speaker), (True, bool), (None, (int, type(None)))]
)
def test_what_fits_passes(value: Any, kind: Any) -> None:
    require("It", value, kind, "what it is")


@pytest.mark.req("R-8.7-03")
@pytest.mark.parametrize(
    ("value", "given"), [(5, "int"), (None, "NoneType"), ([], "list"), (_Dog, "the class _Dog"), ("x", "str")]
)
def test_what_does_not_fit_is_named(value: Any, given: str) -> None:
    with pytest.raises(InvalidInputError, match=f"^The speaker must be an object with speak\\(\\), not {given}$"):
        require("The speaker", value, _Speaker, "an object with speak()")


@pytest.mark.parametrize("value", [0, 5, 1.5, 10])
def test_a_number_in_its_range_passes(value: float) -> None:
    require_number("It", value, 0, 10)


@pytest.mark.parametrize("value", [-1, 10.5, float("nan"), float("inf"), True, "5", None])
def test_anything_else_is_told_the_range(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="It must be a number from 0 to 10, not"):
        require_number("It", value, 0, 10)


@pytest.mark.parametrize("value", [0, 1.0, float("nan"), False])
def test_a_whole_number_has_no_fraction(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="It must be a whole number from 1, not"):
        require_number("It", value, 1, whole=True)


@pytest.mark.parametrize(
    "values",
    [["a", "b"], ("a", "b"), {"a": 1, "b": 2}.keys(), pytest.param((each for each in "ab"), id="generator")],
)
def test_texts_are_a_tuple(values: Any) -> None:
    assert require_texts("roles", values) == ("a", "b")


@pytest.mark.parametrize("values", ["admin", None, 5, ["a", 5], {"a": "b"}, b"ab"])
def test_what_is_no_list_of_texts_is_refused(values: Any) -> None:
    with pytest.raises(InvalidInputError, match="roles must be a list of texts"):
        require_texts("roles", values)
