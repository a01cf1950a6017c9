import dataclasses

import pytest

from apcore.frozen import field_setters


@dataclasses.dataclass(frozen=True, slots=True, init=False)
class Pair:
    first: str
    second: str

    def __init__(self, first: str, second: str) -> None:
        _set_first(self, first)
        _set_second(self, second)


_set_first, _set_second = field_setters(Pair)


def test_an_object_made_with_them_is_like_any_other_of_a_frozen_data_class() -> None:
    pair = Pair("a", second="b")
    assert repr(pair) == "Pair(first='a', second='b')"
    assert dataclasses.replace(pair, first="c") == Pair("c", "b")
    assert dataclasses.asdict(pair) == {"first": "a", "second": "b"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        pair.first = "c"  # type: ignore[misc]  # what must not work


def test_they_set_nothing_else() -> None:
    with pytest.raises(TypeError):
        _set_first(object(), "a")
