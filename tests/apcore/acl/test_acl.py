import asyncio
import json
import threading

import pytest

from apcore.acl import ACL, ACLRule, evaluate_acl
from apcore.context import Context, Identity
from apcore.errors import ACLRuleError

RULES = [
    {"callers": ["@external"], "targets": ["admin.*"], "effect": "deny", "description": "Nobody from outside"},
    {"callers": ["*"], "targets": ["admin.*"], "effect": "allow", "conditions": {"roles": ["admin"]}},
    {"callers": ["api.*"], "targets": ["orders.*"], "effect": "allow"},
]


async def is_office_hour(value, context):
    await asyncio.sleep(0)
    return value


@pytest.mark.req("R-12.2-32")
def test_check_says_yes_or_no():
    acl = ACL(RULES)
    assert acl.check("api.x", "orders.create") is True
    assert acl.check("web.x", "orders.create") is False
    assert acl.check(None, "admin.users", Context.create(identity=Identity("a", roles=["admin"]))) is False
    assert acl.check("web.x", "admin.users", Context.create(identity=Identity("a", roles=["admin"]))) is True


@pytest.mark.req("R-6.3-04")
def test_evaluate_says_which_rule_decided_and_why():
    decision = ACL(RULES).evaluate(None, "admin.users")
    assert decision.effect == "deny"
    assert decision.matched_rule == ACLRule.from_dict(RULES[0])
    assert decision.rule_index == 0
    assert decision.reason == "deny by rule 1 (Nobody from outside)"


@pytest.mark.req("R-6.3-01", "R-6.3-02", "R-6.3-04")
@pytest.mark.parametrize(
    ("caller", "target", "effect", "matched"),
    [
        (None, "admin.users", "deny", 0),
        ("api.x", "orders.create", "allow", 2),
        ("web.x", "orders.create", "deny", None),
    ],
)
def test_the_algorithm_of_the_protocol_is_a_function(caller, target, effect, matched):
    decision = evaluate_acl(caller, target, RULES, "deny", Context.create())
    assert decision.effect == effect
    assert decision.matched_rule == (None if matched is None else ACLRule.from_dict(RULES[matched]))


@pytest.mark.parametrize("rules", [None, 5, "ab", RULES[0], [5]])
def test_the_algorithm_refuses_what_are_no_rules(rules):
    with pytest.raises(ACLRuleError):
        evaluate_acl(None, "a.b", rules, "allow")


def test_without_rules_nothing_is_allowed():
    assert ACL().check("api.x", "orders.create") is False


def test_a_malformed_rule_stops_construction_and_is_named():
    with pytest.raises(ACLRuleError, match="rule 2: 'effect'"):
        ACL([RULES[0], RULES[1] | {"effect": "permit"}])


def test_replacing_swaps_rules_and_default_at_once():
    acl = ACL(RULES)
    acl.replace([], "allow")
    assert acl.check("web.x", "orders.create")
    assert acl.policy.rules == ()
    acl.replace(RULES)
    assert acl.policy.default_effect == "allow"


def test_rules_that_cannot_be_put_in_force_leave_the_old_ones():
    acl = ACL(RULES)
    with pytest.raises(ACLRuleError):
        acl.replace([RULES[2] | {"conditions": {"unknown": 1}}], "allow")
    assert len(acl.policy.rules) == 3
    assert not acl.check("web.x", "orders.create")


def test_a_check_sees_one_policy_while_others_replace_it():
    """Either policy denies the call; a mixture of the rules of one and the default of the other would allow it."""
    acl = ACL([{"callers": ["*"], "targets": ["a.b"], "effect": "deny"}], "allow")
    stop = threading.Event()

    def replace():
        while not stop.is_set():
            acl.replace([], "deny")
            acl.replace([{"callers": ["*"], "targets": ["a.b"], "effect": "deny"}], "allow")

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        assert not any(acl.check(None, "a.b") for _ in range(2000))
    finally:
        stop.set()
        writer.join()


@pytest.mark.req("R-6.1-15")
def test_a_registered_condition_takes_part():
    acl = ACL()
    acl.register_condition("tenant", lambda value, context: context.identity.attrs.get("tenant") == value)
    acl.replace([{"callers": ["*"], "targets": ["*"], "effect": "allow", "conditions": {"tenant": "acme"}}])
    assert acl.check(None, "a.b", Context.create(identity=Identity("x", attrs={"tenant": "acme"})))
    assert not acl.check(None, "a.b", Context.create(identity=Identity("x", attrs={"tenant": "other"})))


TENANT_RULE = {"callers": ["*"], "targets": ["*"], "effect": "allow", "conditions": {"tenant": "acme"}}


@pytest.mark.req("R-6.1-15")
def test_a_condition_may_be_registered_after_the_rules_that_use_it(caplog):
    acl = ACL([TENANT_RULE])
    context = Context.create(identity=Identity("x", attrs={"tenant": "acme"}))
    assert not acl.check(None, "a.b", context)
    assert "'tenant' is not registered" in caplog.text
    acl.register_condition("tenant", lambda value, context: context.identity.attrs["tenant"] == value)
    assert acl.check(None, "a.b", context)


@pytest.mark.parametrize("conditions", [{"tenant": 1}, {"$not": {"tenant": 1}}, {"$or": [{"tenant": 1}]}])
def test_a_condition_that_nobody_registered_allows_nothing_and_still_denies(conditions):
    for effect in ("allow", "deny"):
        acl = ACL(
            [TENANT_RULE | {"effect": effect, "conditions": conditions}], "deny" if effect == "allow" else "allow"
        )
        assert not acl.check(None, "a.b", Context.create())


def test_conditions_belong_to_one_access_list():
    ACL().register_condition("tenant", lambda value, context: True)
    assert not ACL([TENANT_RULE]).check(None, "a.b", Context.create())


def test_where_all_conditions_are_given_another_one_is_refused(tmp_path):
    path = tmp_path / "acl.yaml"
    path.write_text(json.dumps({"rules": [TENANT_RULE]}))
    for make in (
        lambda: ACL([TENANT_RULE], conditions={}),
        lambda: ACL.load(path),
        lambda: evaluate_acl(None, "a.b", [TENANT_RULE]),
    ):
        with pytest.raises(ACLRuleError, match="condition 'tenant' is not a condition"):
            make()
    assert ACL.load(path, conditions={"tenant": lambda value, context: True}).check(None, "a.b", Context.create())


def test_a_word_of_the_protocol_that_it_does_not_have_is_refused_at_once():
    with pytest.raises(ACLRuleError, match=r"\$and"):
        ACL([TENANT_RULE | {"conditions": {"$and": [{"roles": ["a"]}]}}])


@pytest.mark.parametrize("name", ["roles", "identity_types", "max_call_depth", "$or", "$and"])
def test_the_conditions_of_the_protocol_cannot_be_replaced(name):
    with pytest.raises(ACLRuleError, match="belongs to the protocol"):
        ACL().register_condition(name, lambda value, context: True)


@pytest.mark.req("R-6.1-12", "R-6.1-13", "R-6.1-14", "R-6.1-15")
def test_an_async_condition_is_awaited_by_the_async_check_alone(caplog):
    allow = {"callers": ["*"], "targets": ["*"], "effect": "allow", "conditions": {"$or": [{"office_hour": True}]}}
    acl = ACL([allow], conditions={"office_hour": is_office_hour})
    context = Context.create()
    assert acl.has_async_conditions
    assert asyncio.run(acl.evaluate_async(None, "a.b", context)).allowed
    assert not acl.check(None, "a.b", context)
    assert "office_hour" in caplog.text


@pytest.mark.req("R-6.1-15")
def test_a_condition_may_have_a_handler_for_each_kind_of_check():
    acl = ACL()
    acl.register_condition("office_hour", lambda value, context: value, async_handler=is_office_hour)
    acl.replace([{"callers": ["*"], "targets": ["*"], "effect": "allow", "conditions": {"office_hour": True}}])
    assert acl.check(None, "a.b", Context.create())
    assert asyncio.run(acl.evaluate_async(None, "a.b", Context.create())).allowed


@pytest.mark.req("R-6.1-19")
def test_a_priority_does_not_move_a_rule():
    allow = {"callers": ["*"], "targets": ["*"], "effect": "allow", "priority": 1}
    assert ACL([allow, allow | {"effect": "deny", "priority": 100}]).check(None, "a.b")


def test_a_subclass_may_refresh_the_policy_when_it_is_read():
    class Refreshing(ACL):
        @property
        def policy(self):
            self.replace([], "allow")
            return super().policy

    assert Refreshing(RULES).check("web.x", "orders.create")


def test_rules_that_live_in_memory_are_never_stale():
    acl = ACL(RULES)
    assert not acl.is_stale
    acl.refresh()
    assert acl.check("api.x", "orders.create")


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        *[("rules", each) for each in (None, 5, "abc", {}, RULES[0])],
        *[("default_effect", each) for each in (None, True, "", "maybe", ["deny"])],
        *[("conditions", each) for each in (5, {"x": 5}, {5: is_office_hour}, {"": is_office_hour})],
        *[("audit", each) for each in (5, False, {"enabled": True})],
    ],
)
def test_what_an_access_list_cannot_be_made_of_is_refused(argument, wrong):
    with pytest.raises(ACLRuleError):
        ACL(**{argument: wrong})


@pytest.mark.parametrize(("rules", "effect"), [(None, None), (5, None), ("ab", None), ([], ""), ([], "maybe")])
def test_what_cannot_take_the_place_of_the_rules_leaves_them(rules, effect):
    acl = ACL(RULES)
    with pytest.raises(ACLRuleError):
        acl.replace(rules, effect)
    assert acl.check("api.x", "orders.create")


@pytest.mark.parametrize(("name", "handlers"), [(None, [is_office_hour]), ("x", [None]), ("x", [5]), ("x", [max, 5])])
def test_what_is_no_condition_is_refused(name, handlers):
    acl = ACL(RULES)
    with pytest.raises(ACLRuleError, match="condition"):
        acl.register_condition(name, handlers[0], async_handler=handlers[1] if len(handlers) > 1 else None)


def test_conditions_that_contain_themselves_or_are_too_deep_are_refused():
    ring, deep = {}, {"roles": ["a"]}
    ring["$not"] = ring
    for _ in range(5_000):
        deep = {"$not": deep}
    for conditions in (ring, deep):
        with pytest.raises(ACLRuleError, match="50 levels"):
            ACL([{**RULES[0], "conditions": conditions}])
