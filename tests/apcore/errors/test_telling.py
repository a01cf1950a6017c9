"""What a log may say about an exception."""

import pytest

from apcore.errors.telling import places_of, told


def fail(cause: BaseException | None = None) -> BaseException:
    try:
        raise ValueError("hunter2") from cause
    except ValueError as error:
        return error


def test_kinds_and_places_are_told_and_no_text_and_no_source() -> None:
    text = told(fail(fail()))
    assert text.startswith("ValueError\n  ")
    assert "caused by ValueError\n" in text
    assert "test_telling.py:" in text
    assert "in fail" in text
    assert "hunter2" not in text


def test_errors_that_cause_each_other_are_told_once() -> None:
    one, other = ValueError(), KeyError()
    one.__cause__, other.__cause__ = other, one
    assert told(one) == "ValueError\ncaused by KeyError"
    assert told(None) == ""


def test_of_many_frames_the_last_thirty_are_told() -> None:
    def deeper(levels: int) -> None:
        if not levels:
            raise ValueError("deep")
        deeper(levels - 1)

    with pytest.raises(ValueError, match="deep") as caught:
        deeper(50)
    assert places_of(caught.value).count("\n") == 30
