"""Who may call what (§6)."""

from apcore.acl.acl import ACL, evaluate_acl
from apcore.acl.audit import AuditSettings
from apcore.acl.callers import caller_is_listed
from apcore.acl.checker import ACLChecker
from apcore.acl.conditions import ConditionHandler
from apcore.acl.configured import configured_acl
from apcore.acl.policy import ACLDecision, Policy
from apcore.acl.rules import ACLRule, Effect

__all__ = [
    "ACL",
    "ACLChecker",
    "ACLDecision",
    "ACLRule",
    "AuditSettings",
    "ConditionHandler",
    "Effect",
    "Policy",
    "caller_is_listed",
    "configured_acl",
    "evaluate_acl",
]
