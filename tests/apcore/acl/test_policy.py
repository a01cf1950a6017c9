import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.acl import ACLRule, Policy
from apcore.acl.conditions import Handlers, Vocabulary
from apcore.context import Context, Identity
from apcore.errors import ACLRuleError
from apcore.ids import match_pattern


def rule(callers, targets, effect, conditions=None):
    return ACLRule(tuple(callers), tuple(targets), effect, conditions=conditions)


ALLOW_ALL = rule(["*"], ["*"], "allow")
DENY_ALL = rule(["*"], ["*"], "deny")

segments = st.sampled_from(["a", "b", "ab"])
ids = st.lists(segments, min_size=1, max_size=3).map(".".join)
patterns = st.lists(st.sampled_from(["a", "b", ".", "*", "ab"]), min_size=1, max_size=5).map("".join)
arrays = st.builds(
    lambda operator, array: operator + array,
    st.sampled_from([[], [], ["$or"], ["$not"]]),
    st.lists(patterns, max_size=3),
)
caller_arrays = st.builds(
    lambda special, array: array + special, st.sampled_from([[], ["@external"], ["@system"]]), arrays
)
conditions = st.sampled_from([None, None, {"roles": ["admin"]}, {"$not": {"roles": ["admin"]}}, {"max_call_depth": 1}])
rules = st.builds(rule, caller_arrays, arrays, st.sampled_from(["allow", "deny"]), conditions)
contexts = st.none() | st.builds(
    lambda kind, roles, chain: Context.create(identity=kind and Identity("x", kind, roles), call_chain=chain),
    st.sampled_from([None, "user", "system"]),
    st.sampled_from([[], ["admin"]]),
    st.lists(ids, max_size=2),
)


def oracle(rules, default_effect, caller_id, target_id, context):
    """§6.3 with §6.2.1 and §6.5, word by word."""
    identity = context and context.identity

    def one_matches(pattern, value):
        if pattern == "@external":
            return caller_id is None
        if pattern == "@system":
            return bool(identity and identity.type == "system")
        return match_pattern(pattern, value)

    def matches(array, value):
        if array[:1] == ("$not",):
            return len(array) > 1 and not one_matches(array[1], value)
        return any(one_matches(each, value) for each in (array[1:] if array[:1] == ("$or",) else array))

    def fulfilled(conditions):
        if context is None:
            return False
        is_admin = bool(identity and "admin" in identity.roles)
        return {
            "roles": is_admin,
            "$not": not is_admin,
            "max_call_depth": len(context.call_chain) <= 1,
        }[next(iter(conditions))]

    for each in rules:
        caller_matched = matches(each.callers, "@external" if caller_id is None else caller_id)
        if caller_matched and matches(each.targets, target_id) and (not each.conditions or fulfilled(each.conditions)):
            return each.effect, each
    return default_effect, None


@pytest.mark.req(
    "R-6.3-01", "R-6.3-02", "R-6.3-03", "R-6.3-04", "R-6.1-05", "R-6.1-16", "R-6.1-17", "R-6.5-01", "R-6.5-04"
)
@given(
    rules=st.lists(rules, max_size=5),
    default=st.sampled_from(["allow", "deny"]),
    caller_id=st.none() | ids,
    target_id=ids,
    context=contexts,
)
def test_the_first_match_is_that_of_the_specification(rules, default, caller_id, target_id, context):
    policy = Policy(rules, default)
    decision = policy.first_match(caller_id, target_id, context)
    effect, matched = oracle(rules, default, caller_id, target_id, context)
    assert (decision.effect, decision.matched_rule) == (effect, matched)
    assert decision.allowed is (effect == "allow")
    assert decision.rule_index is None if matched is None else rules[decision.rule_index] is matched
    assert asyncio.run(policy.first_match_async(caller_id, target_id, context)) == decision


@pytest.mark.req("R-6.3-01")
def test_definition_order_decides_and_neither_effect_nor_specificity_does():
    exact_deny = rule(["a.b"], ["c.d"], "deny")
    assert Policy([ALLOW_ALL, exact_deny]).first_match("a.b", "c.d", None).allowed
    assert not Policy([exact_deny, ALLOW_ALL]).first_match("a.b", "c.d", None).allowed


@pytest.mark.req("R-6.3-02", "R-6.5-02")
@pytest.mark.parametrize("default", ["allow", "deny"])
def test_without_a_match_the_default_decides(default):
    decision = Policy([], default).first_match("a.b", "c.d", None)
    assert (decision.effect, decision.matched_rule, decision.rule_index) == (default, None, None)
    assert default in decision.reason


@pytest.mark.req("R-6.5-03")
@pytest.mark.parametrize(("callers", "targets"), [([], ["*"]), (["*"], [])])
def test_an_empty_array_never_matches(callers, targets):
    assert Policy([rule(callers, targets, "deny")], "allow").first_match("a.b", "c.d", None).allowed


@pytest.mark.req("R-6.5-05")
def test_a_module_that_calls_itself_is_checked_like_any_other():
    assert not Policy().first_match("a.b", "a.b", None).allowed
    assert Policy([rule(["a.b"], ["a.b"], "allow")]).first_match("a.b", "a.b", None).allowed


@pytest.mark.req("R-6.2.1-07")
@pytest.mark.parametrize("default", ["allow", "deny"])
@pytest.mark.parametrize("name", ["$or", "$not"])
def test_an_operator_is_no_module_whatever_the_rules_say(name, default):
    policy = Policy([rule(["*", name], ["*", name], "allow")], default)
    assert not policy.first_match("a.b", name, None).allowed
    assert not policy.first_match(name, "a.b", None).allowed


@pytest.mark.req("R-6.1-17")
def test_a_caller_named_like_a_special_pattern_gains_nothing():
    policy = Policy([rule(["@system"], ["*"], "allow")])
    assert not policy.first_match("@system", "a.b", Context.create(identity=Identity("x", "user"))).allowed


@pytest.mark.req("R-6.1-13")
def test_what_cannot_be_told_allows_nothing_and_still_denies():
    def fails(value, context):
        raise ValueError

    known = Vocabulary({"fails": Handlers(fails, None)})
    unsure = {"fails": 1}
    context = Context.create()
    assert not Policy([rule(["*"], ["*"], "allow", unsure)], "deny", known).first_match(None, "a.b", context).allowed
    deny = rule(["*"], ["*"], "deny", unsure)
    decision = Policy([deny, ALLOW_ALL], "allow", known).first_match(None, "a.b", context)
    assert (decision.allowed, decision.matched_rule) == (False, deny)
    assert "cannot be told" in decision.reason


def test_a_malformed_condition_names_the_rule_and_the_field():
    broken = ACLRule(("*",), ("*",), "allow", "Staff only", {"role": ["staff"]})
    with pytest.raises(ACLRuleError, match=r"rule 2 \(Staff only\): condition 'role'") as caught:
        Policy([DENY_ALL, broken])
    assert caught.value.details["field"] == "conditions.role"


def test_an_unknown_default_is_refused():
    with pytest.raises(ACLRuleError, match="default_effect"):
        Policy([], "maybe")


def test_only_async_handlers_make_a_policy_async():
    async def handler(value, context):
        return True

    known = Vocabulary({"remote": Handlers(None, handler), "both": Handlers(lambda *_: True, handler)})
    assert not Policy([rule(["*"], ["*"], "allow", {"roles": ["a"]})]).has_async_conditions
    assert Policy([rule(["*"], ["*"], "allow", {"$not": {"$or": [{"remote": 1}]}})], "deny", known).has_async_conditions
