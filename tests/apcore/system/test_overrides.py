import pytest

from apcore.system import MemoryOverridesStore
from apcore.system.overrides import toggle_key, toggles_in, values_in


def test_values_are_kept_until_they_are_deleted():
    store = MemoryOverridesStore()
    store.save("a.b", {"c": [1]})
    store.save("a.b", {"c": [2]})
    store.save("d", None)
    assert store.load() == {"a.b": {"c": [2]}, "d": None}

    store.delete("d")
    store.delete("d")
    assert store.load() == {"a.b": {"c": [2]}}


def test_what_was_stored_or_loaded_changes_with_nobody():
    store, value = MemoryOverridesStore(), {"c": [1]}
    store.save("a", value)
    value["c"].append(2)
    store.load()["a"]["c"].append(3)
    assert store.load() == {"a": {"c": [1]}}


@pytest.mark.req("R-6.7-16")
def test_toggles_and_values_are_told_apart():
    stored = {toggle_key("a.b"): False, "z": 1, "z.y": 2}
    assert toggles_in(stored) == {"a.b": False}
    assert list(values_in(stored).items()) == [("z", 1), ("z.y", 2)]
