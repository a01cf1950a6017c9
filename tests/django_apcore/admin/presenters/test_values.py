"""Values as an approver reads them: nothing invisible, nothing that passes for something else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.redaction import REDACTED_VALUE
from django_apcore.admin.presenters.values import LONG, shown, shown_pair, visible

ZERO_WIDTH, OVERRIDE = "\u200b", "\u202e"


@pytest.mark.parametrize(
    ("value", "text", "style"),
    [
        ("Rock", "Rock", "text"),
        (0, "0", "text"),
        ("0.99", "0.99", "text"),
        (None, "nothing (null)", "word"),
        ("", "empty text", "word"),
        (True, "yes", "word"),
        (False, "no", "word"),
        ([], "empty list", "word"),
        ({}, "empty object", "word"),
        (REDACTED_VALUE, REDACTED_VALUE, "hidden"),
        ({"$redacted": "ab" * 32}, REDACTED_VALUE, "hidden"),
        ({"$known_after_apply": "id"}, "assigned by the database", "later"),
        ({"$known_after_apply": "now"}, "the time of execution", "later"),
        ({"$known_after_apply": "LOWER(name)"}, "known after it ran (LOWER(name))", "later"),
        ({"$ref": "new:store.Invoice#1"}, "the new store.Invoice#1", "reference"),
        ({"$unchecked": "store.Track.seen"}, "not checked: it differs at every measurement", "later"),
        ({"$float": "nan"}, "nan", "word"),
        ({"$json": None}, "null, as JSON", "word"),
        ({"$binary": {"bytes": 3, "sha256": "ab"}}, "3 bytes, SHA-256 ab", "word"),
        ({"a": 1}, '{"a": 1}', "code"),
        (["a@example.com"], '["a@example.com"]', "code"),
        ({"$object": {"$ref": "mine"}}, '{"$ref": "mine"}', "code"),
        ({"$ref": "x", "other": 1}, '{"$ref": "x", "other": 1}', "code"),
    ],
)
def test_each_sort_of_value_has_its_words(value: Any, text: str, style: str) -> None:
    found = shown(value)

    assert (found.text, found.style) == (text, style)


def test_a_text_that_reads_like_a_word_is_told_from_it_by_its_style() -> None:
    assert shown("yes").style != shown(True).style
    assert shown("nothing (null)").style != shown(None).style


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        (f"abc{OVERRIDE}fed", "abc⟨U+202E⟩fed"),
        (f"ad{ZERO_WIDTH}min", "ad⟨U+200B⟩min"),
        ("a\x00b\x1b[31m", "a⟨U+0000⟩b⟨U+001B⟩[31m"),
        ("Rock ", "Rock␣"),
        ("  Rock", "␣␣Rock"),
        ("   ", "␣␣␣"),
        ("two\nlines\tand tab", "two\nlines\tand tab"),
        ("Motörhead – Αθήνα – 東京", "Motörhead – Αθήνα – 東京"),
    ],
)
def test_characters_that_do_not_show_are_written_out(text: str, spelled: str) -> None:
    assert visible(text) == spelled


@given(st.text(), st.text())
def test_texts_that_differ_never_read_the_same(one: str, other: str) -> None:
    literal = set("⟨⟩␣")
    if one != other and not literal & set(one + other):
        assert visible(one) != visible(other)


def test_a_long_value_is_folded_and_whole() -> None:
    found = shown("word " * 100)

    assert found.text.startswith("word word")
    assert len(found.text) == 500
    assert found.excerpt.endswith("…")
    assert len(found.excerpt) <= LONG + 2


def test_a_value_of_many_lines_is_folded_to_one() -> None:
    assert shown("first\nsecond").excerpt == ""
    assert shown("line\n" * 20).excerpt.startswith("line line")


def test_large_json_is_laid_out_and_folded() -> None:
    found = shown({"names": ["somebody"] * 30})

    assert found.text.startswith('{\n  "names": [\n')
    assert found.excerpt.startswith('{ "names": [')


def test_the_excerpts_of_a_change_show_where_it_is() -> None:
    same = "the same beginning " * 30

    before, after = shown_pair(same + "ends here", same + "stops here")

    assert "ends here" in before.excerpt
    assert "stops here" in after.excerpt
    assert before.excerpt.startswith("…")


def test_two_hidden_values_that_differ_say_so() -> None:
    before, after = shown_pair({"$redacted": "aa"}, {"$redacted": "bb"})

    assert before.text == REDACTED_VALUE
    assert after.text == "another value, also hidden"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_any_json_can_be_shown(value: Any) -> None:
    assert shown(value).text != ""
