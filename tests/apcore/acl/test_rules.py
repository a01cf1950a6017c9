import dataclasses

import pytest

from apcore.acl import ACLRule
from apcore.errors import ACLRuleError

RULE = {"callers": ["api.*"], "targets": ["orders.*"], "effect": "allow"}


@pytest.mark.req("R-6.1-02")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"effect": "maybe"}, "effect"),
        ({"effect": None}, "effect"),
        ({"callers": "api.*"}, "callers"),
        ({"callers": None}, "callers"),
        ({"targets": {"a": 1}}, "targets"),
        ({"targets": [1]}, "targets"),
        ({"targets": [""]}, "targets"),
        ({"callers": ["api. *"]}, "callers"),
        ({"callers": ["@systen"]}, "callers"),
        ({"targets": ["@system"]}, "targets"),
        ({"description": 5}, "description"),
        ({"conditions": ["roles"]}, "conditions"),
        ({"condition": {"roles": ["admin"]}}, "condition"),
    ],
)
def test_a_malformed_rule_is_refused_by_field(change, field):
    with pytest.raises(ACLRuleError, match=f"rule 7: '{field}'") as caught:
        ACLRule.from_dict(RULE | change, "rule 7")
    assert caught.value.details == {"field": field, "rule": "rule 7"}


@pytest.mark.req("R-6.1-02")
@pytest.mark.parametrize("field", RULE)
def test_a_rule_without_a_required_field_is_refused(field):
    with pytest.raises(ACLRuleError, match=f"'{field}' is missing"):
        ACLRule.from_dict({name: value for name, value in RULE.items() if name != field})


def test_a_rule_that_is_no_object_is_refused():
    with pytest.raises(ACLRuleError, match="must be an object"):
        ACLRule.from_dict(["api.*"])


@pytest.mark.req("R-6.1-03")
def test_a_description_is_optional():
    assert ACLRule.from_dict(RULE).description == ""
    assert ACLRule.from_dict(RULE | {"description": None}).description == ""


@pytest.mark.req("R-6.2.1-01")
@pytest.mark.parametrize("array", [["$or", "a.*", "b.*"], ["$not", "a.*"], ["$not"], []])
def test_operators_and_empty_arrays_are_accepted(array):
    rule = ACLRule.from_dict({"callers": array, "targets": array, "effect": "deny"})
    assert (rule.callers, rule.targets) == (tuple(array), tuple(array))


@pytest.mark.req("R-6.2.1-05")
def test_a_second_pattern_behind_not_gives_a_warning(caplog):
    ACLRule(("$not", "a.*", "b.*"), ("*",), "deny")
    assert "only the first counts" in caplog.text


@pytest.mark.req("R-6.1-19")
def test_reserved_fields_have_no_effect(caplog):
    assert ACLRule.from_dict(RULE | {"id": "r1", "actions": ["x"], "priority": 9}) == ACLRule.from_dict(RULE)
    assert "priority" in caplog.text


@pytest.mark.parametrize("more", [{}, {"description": "text", "conditions": {"$not": {"roles": ["a"]}}}])
def test_the_file_form_survives_a_round_trip(more):
    assert ACLRule.from_dict(RULE | more).to_dict() == RULE | more


def test_a_rule_does_not_change_with_what_it_was_made_of():
    conditions = {"roles": ["admin"]}
    rule = ACLRule(("*",), ("*",), "allow", conditions=conditions)
    conditions["roles"].append("guest")
    assert rule.conditions == {"roles": ["admin"]}
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.effect = "deny"
