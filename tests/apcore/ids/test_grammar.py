import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import InvalidModuleIdError
from apcore.ids import (
    CANONICAL_ID_PATTERN,
    MAX_ID_LENGTH,
    RESERVED_WORDS,
    is_canonical_id,
    validate_canonical_id,
)

BAD = [
    "",
    "A.b",
    "a b",
    "a/b",
    "a.b!",
    "a.é",
    "a.b\n",
    "a.b.",
    ".a",
    "a..b",
    "a-b.c",
    "1a",
    "_a",
    "a.1b",
    "a._b",
    "a__b.c",
    "a" * 193,
    "а.b",  # a Cyrillic letter that looks like "a"
    "a.b٣",  # an Arabic digit
]


@pytest.mark.req("R-2.1-10", "R-2.1-11", "R-2.1-12", "R-2.7-01", "R-2.7-02", "R-2.7-03", "R-2.5-03")
@pytest.mark.parametrize("module_id", BAD)
def test_ids_outside_the_grammar_are_refused(module_id):
    assert not is_canonical_id(module_id)
    with pytest.raises(InvalidModuleIdError) as caught:
        validate_canonical_id(module_id)
    assert (caught.value.code, caught.value.http_status) == ("INVALID_MODULE_ID", 400)
    assert caught.value.details["module_id"] == module_id
    assert len(caught.value.message) < 250


@pytest.mark.parametrize("module_id", [None, 7, b"a.b", ["a"]])
def test_what_is_no_text_is_no_id(module_id):
    assert not is_canonical_id(module_id)
    with pytest.raises(InvalidModuleIdError):
        validate_canonical_id(module_id)


@pytest.mark.req("R-2.1-07", "R-2.7-01")
@pytest.mark.parametrize("module_id", ["a", "a.b", "executor.validator.db_params", "a1.b_2_", "a" * 192])
def test_ids_inside_the_grammar_are_accepted(module_id):
    assert is_canonical_id(module_id)
    validate_canonical_id(module_id)


@pytest.mark.req("R-2.1-07")
def test_constants():
    assert MAX_ID_LENGTH == 192
    assert CANONICAL_ID_PATTERN.pattern == r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*"


@pytest.mark.req("R-2.5-01", "R-2.5-02")
def test_reserved_words():
    framework = {"system", "internal", "core", "apcore", "plugin", "schema", "acl", "ephemeral"}
    keywords = {"class", "def", "import", "return", "if", "else", "for", "while", "true", "false", "null", "none"}
    assert framework | keywords == RESERVED_WORDS


def follows_the_grammar(text):
    """The EBNF of §2.7, read character by character instead of by a regular expression."""
    segments = text.split(".")
    lower, rest = set("abcdefghijklmnopqrstuvwxyz"), set("abcdefghijklmnopqrstuvwxyz0123456789_")
    return (
        len(text) <= 192
        and "__" not in text
        and all(segment and segment[0] in lower and set(segment) <= rest for segment in segments)
    )


@pytest.mark.req("R-2.7-01")
@given(st.text(st.sampled_from("aZ09_.- \né")) | st.text(max_size=8) | st.from_regex(CANONICAL_ID_PATTERN))
def test_exactly_the_grammar_is_accepted(text):
    assert is_canonical_id(text) == follows_the_grammar(text)


@given(st.from_regex(re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*(\.[a-z][a-z0-9]*(_[a-z0-9]+)*)*"), fullmatch=True))
def test_ids_built_by_the_rules_are_accepted(text):
    assert is_canonical_id(text[:192].rstrip("._"))
