"""Rules that hold for every tree, name and value."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apcore import Config, dispatch_env_var, resolve_namespace_path
from apcore.config import Namespace, apply_namespace_env_overrides, coerce_env_value
from apcore.config.documents import core_schema, key_tree_of
from apcore.config.environment import nested_path
from apcore.config.trees import MISSING, at, deep_merge, leaves, with_value

KEYS = st.sampled_from("abcd")
TREES = st.recursive(
    st.dictionaries(KEYS, st.integers() | st.text(max_size=3), max_size=3),
    lambda children: st.dictionaries(KEYS, children | st.integers(), max_size=3),
    max_leaves=12,
)
WORDS = st.from_regex(r"[a-z][a-z0-9]{0,4}(_[a-z0-9]{1,4}){0,2}", fullmatch=True)
PREFIXES = st.from_regex(r"[A-Z]{1,3}(_[A-Z]{1,3}){0,2}_", fullmatch=True)


@given(TREES, TREES)
def test_every_value_of_the_upper_tree_is_in_the_merged_one(lower, upper):
    merged = deep_merge(lower, upper)

    for path, value in leaves(upper):
        found = at(merged, path)
        assert found == value or (value == {} and isinstance(found, dict))
    for path, value in leaves(lower):
        if at(upper, path[:1]) is MISSING:
            assert at(merged, path) == value


@given(TREES, TREES, TREES)
def test_merging_is_associative_for_trees_of_one_shape(one, two, three):
    # Where a mapping meets a plain value the order of merging matters, so only the upper one's values are compared; an
    # empty mapping is no value, since everything below it shows through.
    left, right = deep_merge(deep_merge(one, two), three), deep_merge(one, deep_merge(two, three))

    paths = [path for path, value in leaves(three) if value != {}]
    assert [at(left, path) for path in paths] == [at(right, path) for path in paths]


@given(TREES)
def test_merging_changes_neither_tree_nor_shares_it(tree):
    merged = deep_merge(tree, {"a": {"new": 1}})
    merged["z"] = 1

    assert "z" not in tree
    assert deep_merge(tree, {}) == deep_merge({}, tree) == tree


@given(TREES, st.lists(KEYS, min_size=1, max_size=4), st.integers())
def test_a_value_is_found_where_it_was_put(tree, path, value):
    assert at(with_value(tree, path, value), path) == value


@given(st.one_of(st.booleans(), st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False)))
def test_what_is_written_to_the_environment_is_read_again(value):
    text = str(value).lower() if isinstance(value, bool) else str(value)

    assert coerce_env_value(text) == value
    assert type(coerce_env_value(text)) is type(value)


@given(st.text(max_size=20))
def test_coercion_never_fails(text):
    assert isinstance(coerce_env_value(text), bool | int | float | str)
    assert coerce_env_value(text, {"type": "string"}) == text


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_a_key_that_is_written_with_double_underscores_comes_back(words):
    suffix = "_".join(word.replace("_", "__") for word in words).upper()

    assert nested_path(suffix, 5) == ".".join(words)


@given(st.text(alphabet="AB_", min_size=1, max_size=12), st.integers(1, 5))
def test_there_are_never_more_parts_than_allowed(suffix, depth):
    assert len(nested_path(suffix, depth).split(".")) <= depth


CORE_PATHS = [path for path, _ in leaves(key_tree_of(core_schema())) if not path[0].startswith("$")]


@pytest.mark.req("R-9.2-03", "R-9.8.1-04")
@pytest.mark.parametrize("joined", ["_", "__"])
def test_every_key_of_the_core_can_be_set_by_a_variable_in_both_spellings(joined):
    namespaces = {"apcore": Namespace("apcore", core_schema(), "APCORE")}
    for path in CORE_PATHS:
        name = "APCORE_" + "_".join(part.upper().replace("_", joined) for part in path)
        data = apply_namespace_env_overrides({}, namespaces, {name: "x"})
        assert [found for found, _ in leaves(data)] == [("apcore", *path)], name


@given(st.sets(PREFIXES, min_size=1, max_size=6), st.text(alphabet="ABC_", max_size=8))
def test_the_longest_prefix_wins_whatever_the_order(prefixes, rest):
    longest = max(prefixes, key=len)
    pairs = [(prefix, prefix.lower()) for prefix in prefixes]
    owner = dispatch_env_var(longest + rest, pairs)

    assert owner is not None
    name, suffix = owner
    assert name.upper() + suffix == longest + rest
    assert all(len(prefix) <= len(name) for prefix in prefixes if (longest + rest).startswith(prefix))
    assert dispatch_env_var(longest + rest, pairs[::-1]) == owner


@given(st.sets(st.from_regex(r"[a-z]{1,3}(-[a-z]{1,3}){0,2}", fullmatch=True), max_size=6), WORDS)
def test_paths_are_resolved_as_by_the_first_dot(names, key):
    for name in names:
        assert resolve_namespace_path(f"{name}.{key}.x", "namespace", names) == (name, f"{key}.x")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["default", "mount", "file", "environment", "override"]), min_size=1, unique=True),
)
def test_the_highest_source_that_speaks_wins(speaking):
    order = ["default", "mount", "data", "environment", "override"]
    with pytest.MonkeyPatch.context() as patch:
        if "environment" in speaking:
            patch.setenv("APCORE_EXECUTOR_MAX_CALL_DEPTH", "103")
        config = Config.from_dict({"executor": {"max_call_depth": 102}} if "file" in speaking else {})
        if "mount" in speaking:
            config.mount("apcore", from_dict={"executor": {"max_call_depth": 101}})
        if "override" in speaking:
            config.set("executor.max_call_depth", 104)

    spoken = [order.index({"file": "data"}.get(each, each)) for each in speaking]
    assert config.get("executor.max_call_depth") == (100 + max(spoken) if max(spoken) else 32)
    assert config.source("executor.max_call_depth").kind == order[max(spoken)]
