import pytest

from apcore.schema.patterns import matches


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [("b", "abc", True), ("^b", "abc", False), ("^a$", "a\n", False), (r"\p{Lu}", "É", True), ("a", 1, False)],
)
def test_patterns_are_read_as_json_schema_reads_them(pattern, text, expected):
    assert matches(pattern, text) is expected


def test_what_is_no_pattern_is_an_error():
    with pytest.raises(ValueError, match="regex"):
        matches("(", "a")
