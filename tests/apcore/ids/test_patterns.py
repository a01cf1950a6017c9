import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.ids import calculate_specificity, match_pattern


@pytest.mark.req("R-6.2-01", "R-6.2-02", "R-6.2-03", "R-6.2-04", "R-6.2-05", "R-6.2-06")
@pytest.mark.parametrize(
    ("pattern", "module_id", "matched"),
    [
        ("*", "anything.at.all", True),
        ("api.send", "api.send", True),
        ("api.send", "api.sender", False),
        ("api.*", "api.send", True),
        ("api.*", "api.send.mail", True),
        ("api.*", "api", False),
        ("api.*", "evil.api.x", False),
        ("executor.*", "my.executor.y", False),
        ("*.validator.*", "executor.validator.db", True),
        ("*.validator.*", "validator.db", False),
        ("*.delete", "user.delete", True),
        ("*.delete", "user.delete.all", False),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("a**b", "ab", True),
        ("**", "x", True),
        ("api.**", "api.a.b", True),
        ("api.**", "api", False),
        ("a*b*c", "a.b.b.c", True),
        ("a*b*c", "a.c.b", False),
        ("ab*bc", "abc", False),
        ("", "a", False),
        ("", "", False),
        ("*", "", True),
    ],
)
def test_examples(pattern, module_id, matched):
    assert match_pattern(pattern, module_id) is matched


patterns = st.text(st.sampled_from("ab.*"), max_size=8)
texts = st.text(st.sampled_from("ab."), max_size=10)


@pytest.mark.req("R-6.2-05")
@given(pattern=patterns, text=texts)
def test_means_the_same_as_the_anchored_regular_expression(pattern, text):
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    expected = bool(pattern) and re.fullmatch(expression, text) is not None

    assert match_pattern(pattern, text) is expected


@pytest.mark.req("R-6.4-01")
@pytest.mark.parametrize(
    ("pattern", "score"),
    [("*", 0), ("api.*", 2), ("api.handler.*", 4), ("api.handler.task", 6), ("api.task_*", 3), ("*.validator.*", 2)],
)
def test_specificity(pattern, score):
    assert calculate_specificity(pattern) == score


@given(st.lists(st.sampled_from(["a", "b"]), min_size=1).map(".".join))
def test_an_exact_id_is_more_specific_than_any_wildcard_over_it(module_id):
    segments = module_id.split(".")
    for index in range(len(segments)):
        wild = ".".join([*segments[:index], "*", *segments[index + 1 :]])
        assert calculate_specificity(wild) < calculate_specificity(module_id)
