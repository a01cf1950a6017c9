import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.ids import RESERVED_WORDS, detect_id_conflicts


@pytest.mark.req("R-2.6-02")
def test_an_id_that_exists():
    conflict = detect_id_conflicts("a.b", {"a.b"})

    assert (conflict.type, conflict.severity) == ("duplicate_id", "error")
    assert "'a.b'" in conflict.message


@pytest.mark.req("R-2.6-03", "R-2.5-01", "R-2.5-02")
@pytest.mark.parametrize("word", sorted(RESERVED_WORDS))
@pytest.mark.parametrize("pattern", ["{}.b", "a.{}", "a.{}.c", "{}"])
def test_a_reserved_word_in_any_segment(pattern, word):
    conflict = detect_id_conflicts(pattern.format(word), set())

    assert (conflict.type, conflict.severity) == ("reserved_word", "error")
    assert f"'{word}'" in conflict.message


def test_a_reserved_word_inside_a_longer_one_is_none():
    assert detect_id_conflicts("schemas.imports.class_room", set()) is None


@pytest.mark.req("R-2.6-04")
def test_ids_that_differ_in_letter_case():
    conflict = detect_id_conflicts("Abc.x", {"abc.x"})

    assert (conflict.type, conflict.severity) == ("case_collision", "warning")


@pytest.mark.req("R-2.6-05")
def test_the_first_hit_is_returned():
    assert detect_id_conflicts("api.schema", {"api.schema", "API.schema"}).type == "duplicate_id"
    assert detect_id_conflicts("api.schema", {"API.schema"}).type == "reserved_word"
    assert detect_id_conflicts("api.check", {"api.other"}) is None


def test_reserved_words_can_be_others():
    assert detect_id_conflicts("api.schema", set(), {"api"}).type == "reserved_word"
    assert detect_id_conflicts("schema.x", set(), set()) is None


ids = st.lists(st.sampled_from(["a", "A", "b", "acl"]), min_size=1, max_size=3).map(".".join)


@given(new_id=ids, existing=st.sets(ids, max_size=5))
def test_rules_as_written(new_id, existing):
    conflict = detect_id_conflicts(new_id, existing)

    expected = None
    if new_id.lower() in {each.lower() for each in existing}:
        expected = "case_collision"
    if "acl" in new_id.split("."):
        expected = "reserved_word"
    if new_id in existing:
        expected = "duplicate_id"
    assert (conflict and conflict.type) == expected
