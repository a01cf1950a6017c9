"""Who may call what, and who decides: the store's access rules and approval policies."""

from datetime import timedelta

from django.contrib.auth.models import Group

from django_apcore.models import ACLRule, ApprovalPolicy
from django_apcore.services.publish_policy import replace_rules, save_policy
from project.store.setup.groups import AGENTS, APPROVERS, VIEWERS

RULES = (
    {
        "description": "Everybody in the store may search and read reports",
        "callers": ["@external"],
        "targets": ["store.catalogue.search", "store.reports.*"],
        "effect": "allow",
        "conditions": {"roles": [AGENTS, APPROVERS, VIEWERS]},
    },
    {
        "description": "Agents may ask for every operation of the store",
        "callers": ["@external"],
        "targets": ["store.*"],
        "effect": "allow",
        "conditions": {"roles": [AGENTS]},
    },
    {
        "description": "Agents may ask for operations to be switched off and on",
        "callers": ["@external"],
        "targets": ["system.control.toggle_feature"],
        "effect": "allow",
        "conditions": {"roles": [AGENTS]},
    },
)

POLICIES = (
    {
        "name": "Refunds",
        "pattern": "store.invoices.refund",
        "position": 10,
        "expires_after": timedelta(hours=4),
        # The gateway cannot tell what it will do, so no refund could ever be complete; each is acknowledged by itself.
        "allow_incomplete": True,
    },
    {
        "name": "Switching operations off",
        "pattern": "system.control.*",
        "position": 15,
        "expires_after": timedelta(hours=1),
    },
    {"name": "Store operations", "pattern": "store.*", "position": 20, "expires_after": timedelta(hours=24)},
)


def publish_rules() -> bool:
    """Publish the access rules, unless somebody has written rules before: those are not overwritten."""
    if ACLRule.objects.exists():
        return False
    replace_rules(RULES, actor=None)
    return True


def publish_policies() -> bool:
    """Save the policies that are missing, by name; what the admin has changed stays."""
    deciders = Group.objects.get(name=APPROVERS)
    there = set(ApprovalPolicy.objects.values_list("name", flat=True))
    missing = [policy for policy in POLICIES if policy["name"] not in there]
    for policy in missing:
        save_policy(ApprovalPolicy(**policy, deciders=deciders), actor=None)
    return bool(missing)
