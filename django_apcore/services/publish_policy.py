"""Publish: change access rules or approval policies, so that every process takes them up."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from apcore.acl import ACL
from django_apcore.conf import acl_conditions
from django_apcore.models import ACLRule, ApprovalPolicy, PolicyRevision
from django_apcore.services._announce import announce
from django_apcore.services._database import alias, atomic
from django_apcore.services._revisions import bump
from django_apcore.services.audit import append
from django_apcore.signals import policy_published


def save_rule(rule: ACLRule, *, actor: User | None) -> ACLRule:
    """Validate and save one access rule. Raises ACLRuleError naming what is wrong."""
    with atomic():
        revision = bump(PolicyRevision.ACL)
        before = _rule(ACLRule.objects.using(alias()).filter(pk=rule.pk).first())
        ACL([rule.to_dict()], conditions=acl_conditions())
        rule.save(using=alias())
        _published_rule("acl.rule_saved", rule, actor, before=before, after=_rule(rule), revision=revision)
    return rule


def delete_rule(rule: ACLRule, *, actor: User | None) -> None:
    """Delete one access rule."""
    with atomic():
        revision = bump(PolicyRevision.ACL)
        before, deleted = _rule(rule), rule.pk
        rule.delete(using=alias())
        rule.pk = deleted
        _published_rule("acl.rule_deleted", rule, actor, before=before, revision=revision)


def replace_rules(rules: Sequence[Mapping[str, Any]], *, actor: User | None) -> list[ACLRule]:
    """Replace all access rules by these, in this order (§6.1 form). All or nothing. Raises ACLRuleError."""
    read = ACL(rules, conditions=acl_conditions()).policy.rules
    with atomic():
        revision = bump(PolicyRevision.ACL)
        before = [_rule(rule) for rule in ACLRule.objects.using(alias()).all()]
        ACLRule.objects.using(alias()).all().delete()
        rows = [
            ACLRule(
                position=position,
                callers=list(rule.callers),
                targets=list(rule.targets),
                effect=rule.effect,
                description=rule.description,
                conditions=dict(rule.conditions) if rule.conditions else None,
            )
            for position, rule in enumerate(read, start=1)
        ]
        ACLRule.objects.using(alias()).bulk_create(rows)
        after = [_rule(row) for row in rows]
        known = {"before": before, "after": after, "revision": revision}
        append("acl.replaced", subject="acl", actor=actor, data=known)
        announce(policy_published, PolicyRevision, name=PolicyRevision.ACL, revision=revision)
    return rows


def save_policy(policy: ApprovalPolicy, *, actor: User | None) -> ApprovalPolicy:
    """Validate and save an approval policy under the next revision. Raises ValidationError for a bad pattern."""
    policy.full_clean()
    with atomic():
        revision = bump(PolicyRevision.POLICIES)
        current = ApprovalPolicy.objects.using(alias()).select_for_update().filter(pk=policy.pk).first()
        if current is not None:
            policy.revision = current.revision
        policy.save(using=alias())
        _published_policy("policy.saved", policy, actor, revision, before=_policy(current), after=_policy(policy))
    return policy


def delete_policy(policy: ApprovalPolicy, *, actor: User | None) -> None:
    """Delete an approval policy. Requests that it governed keep their expiry and become subject to the next one."""
    with atomic():
        revision = bump(PolicyRevision.POLICIES)
        before = _policy(policy)
        policy.delete(using=alias())
        _published_policy("policy.deleted", policy, actor, revision, before=before)


def _published_rule(kind: str, rule: ACLRule, actor: User | None, **data: Any) -> None:
    append(kind, subject="acl", actor=actor, data={"rule": rule.pk, **data})
    announce(policy_published, PolicyRevision, name=PolicyRevision.ACL, revision=data["revision"])


def _published_policy(kind: str, policy: ApprovalPolicy, actor: User | None, revision: int, **data: Any) -> None:
    append(kind, subject=f"policy:{policy.name}", actor=actor, data=data)
    announce(policy_published, PolicyRevision, name=PolicyRevision.POLICIES, revision=revision)


def _rule(rule: ACLRule | None) -> dict[str, Any] | None:
    return None if rule is None else {**rule.to_dict(), "position": rule.position, "enabled": rule.enabled}


def _policy(policy: ApprovalPolicy | None) -> dict[str, Any] | None:
    if policy is None:
        return None
    return {
        "pattern": policy.pattern,
        "position": policy.position,
        "expires_after_seconds": policy.expires_after.total_seconds(),
        "allow_incomplete": policy.allow_incomplete,
        "human_initiated": policy.human_initiated,
        "execute_on_approval": policy.execute_on_approval,
        "deciders": policy.deciders_id,
        "revision": policy.revision,
        "active": policy.active,
    }
