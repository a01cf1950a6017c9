"""Publish: change access rules or approval policies, so that every process takes them up."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from django_apcore.models import ACLRule, ApprovalPolicy


def save_rule(rule: ACLRule, *, actor: User | None) -> ACLRule:
    """Validate and save one access rule. Raises ACLRuleError naming what is wrong."""
    raise NotImplementedError


def delete_rule(rule: ACLRule, *, actor: User | None) -> None:
    """Delete one access rule."""
    raise NotImplementedError


def replace_rules(rules: Sequence[Mapping[str, Any]], *, actor: User | None) -> list[ACLRule]:
    """Replace all access rules by these, in this order (§6.1 form). All or nothing. Raises ACLRuleError."""
    raise NotImplementedError


def save_policy(policy: ApprovalPolicy, *, actor: User | None) -> ApprovalPolicy:
    """Validate and save an approval policy under the next revision. Raises ValidationError for a bad pattern."""
    raise NotImplementedError


def delete_policy(policy: ApprovalPolicy, *, actor: User | None) -> None:
    """Delete an approval policy. Requests that it governed keep their expiry and become subject to the next one."""
    raise NotImplementedError
