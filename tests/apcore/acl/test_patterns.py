import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.acl.patterns import compile_patterns
from apcore.ids import match_pattern

# A small alphabet, so that random patterns and IDs meet often.
ids = st.lists(st.sampled_from(["a", "b", "ab", "aa"]), min_size=1, max_size=4).map(".".join)
patterns = st.lists(st.sampled_from(["a", "b", ".", "*", "aa", "a.", ".b"]), min_size=1, max_size=6).map("".join)


@pytest.mark.req("R-6.1-05", "R-6.2-01", "R-6.2-02", "R-6.2-03", "R-6.2-04", "R-6.2-05", "R-6.2-06")
@given(array=st.lists(patterns, max_size=4), module_id=ids)
def test_a_compiled_array_matches_what_any_of_its_patterns_matches(array, module_id):
    assert compile_patterns(array)(module_id) == any(match_pattern(each, module_id) for each in array)


@pytest.mark.req("R-6.2.1-02")
@given(array=st.lists(patterns, max_size=4), module_id=ids)
def test_or_in_front_changes_nothing(array, module_id):
    assert compile_patterns(["$or", *array])(module_id) == compile_patterns(array)(module_id)


@pytest.mark.req("R-6.2.1-03", "R-6.2.1-05")
@given(pattern=patterns, ignored=st.lists(patterns, max_size=2), module_id=ids)
def test_not_in_front_inverts_the_first_pattern_alone(pattern, ignored, module_id):
    assert compile_patterns(["$not", pattern, *ignored])(module_id) != compile_patterns([pattern])(module_id)


@pytest.mark.req("R-6.2.1-04", "R-6.5-03")
@pytest.mark.parametrize("array", [[], ["$not"], ["$or"]])
def test_an_array_without_a_pattern_matches_nothing(array):
    assert not compile_patterns(array)("a.b")


@pytest.mark.req("R-6.2.1-06", "R-6.2.1-07")
@pytest.mark.parametrize("operator", ["$not", "$or"])
def test_an_operator_further_back_is_a_literal_that_no_id_equals(operator):
    matches = compile_patterns(["api.*", operator])
    assert matches("api.x")
    assert not matches("web.x")
    assert not matches(operator)


@pytest.mark.req("R-6.2-05")
def test_a_pattern_is_anchored_at_both_ends():
    assert not compile_patterns(["api.*"])("evil.api.x")
    assert not compile_patterns(["*.send"])("email.send.now")


@pytest.mark.req("R-6.1-17")
def test_system_matches_by_identity_and_never_by_name():
    assert compile_patterns(["@system"], caller_is_system=True)("any.caller")
    assert not compile_patterns(["@system"])("any.caller")
    assert not compile_patterns(["@system"])("@system")
    assert compile_patterns(["$not", "@system"])("any.caller")
    assert not compile_patterns(["$not", "@system"], caller_is_system=True)("any.caller")


@pytest.mark.req("R-6.1-16", "R-6.1-18")
def test_external_is_a_caller_like_any_other_to_the_wildcard():
    assert compile_patterns(["@external"])("@external")
    assert compile_patterns(["*"])("@external")
    assert not compile_patterns(["api.*"])("@external")
