"""Publishing access rules and approval policies."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from apcore.errors import ACLRuleError
from django_apcore import services
from django_apcore.models import ACLRule, ApprovalPolicy, AuditEntry, PolicyRevision

pytestmark = pytest.mark.django_db(databases=["default", "other"])

ALLOW = {"callers": ["@external"], "targets": ["store.*"], "effect": "allow"}
DENY = {"callers": ["*"], "targets": ["store.secret"], "effect": "deny", "description": "hands off"}


def revision(name: str) -> int:
    return PolicyRevision.objects.get(name=name).revision


def test_a_rule_is_saved_under_a_new_revision(approver: User) -> None:
    rule = services.save_rule(ACLRule(**ALLOW), actor=approver)
    rule.targets = ["store.catalogue.*"]
    services.save_rule(rule, actor=approver)
    assert revision("acl") == 2
    entry = AuditEntry.objects.filter(kind="acl.rule_saved").latest("pk")
    assert entry.data["before"]["targets"] == ["store.*"]
    assert entry.data["after"]["targets"] == ["store.catalogue.*"]
    assert entry.actor_id == str(approver.pk)


@pytest.mark.parametrize(
    "wrong",
    [
        {"callers": "@external"},
        {"targets": ["@everyone"]},
        {"effect": "maybe"},
        {"conditions": {"no_such_condition": 1}},
        {"conditions": {"roles": "admin"}},
    ],
)
def test_a_wrong_rule_changes_nothing(wrong: dict[str, Any]) -> None:
    with pytest.raises(ACLRuleError):
        services.save_rule(ACLRule(**{**ALLOW, **wrong}), actor=None)
    assert not ACLRule.objects.exists()
    assert not PolicyRevision.objects.exists()


def test_a_rule_is_deleted() -> None:
    rule = services.save_rule(ACLRule(**DENY), actor=None)
    services.delete_rule(rule, actor=None)
    assert not ACLRule.objects.exists()
    assert revision("acl") == 2
    assert AuditEntry.objects.get(kind="acl.rule_deleted").data["before"]["description"] == "hands off"


def test_all_rules_are_replaced_in_order() -> None:
    services.replace_rules([ALLOW], actor=None)
    services.replace_rules([DENY, ALLOW], actor=None)
    assert [rule.effect for rule in ACLRule.objects.all()] == ["deny", "allow"]
    assert [rule.to_dict() for rule in ACLRule.objects.all()] == [DENY, ALLOW]
    with pytest.raises(ACLRuleError):
        services.replace_rules([ALLOW, {"effect": "allow"}], actor=None)
    assert ACLRule.objects.count() == 2


def test_a_policy_gets_a_new_revision_each_time(approver: User) -> None:
    policy = services.save_policy(ApprovalPolicy(name="store", pattern="store.*"), actor=approver)
    assert policy.revision == 1
    stale = ApprovalPolicy.objects.get()
    assert services.save_policy(policy, actor=approver).revision == 2
    assert services.save_policy(stale, actor=approver).revision == 3
    assert revision("policies") == 3
    services.delete_policy(policy, actor=approver)
    kinds = AuditEntry.objects.order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["policy.saved"] * 3 + ["policy.deleted"]


@pytest.mark.parametrize("pattern", ["", "Store.*", "store *", "store.*\n"])
def test_a_policy_needs_a_pattern(pattern: str) -> None:
    with pytest.raises(ValidationError):
        services.save_policy(ApprovalPolicy(name="store", pattern=pattern), actor=None)
