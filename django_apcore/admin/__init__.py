"""The admin: where people read, decide and set rules. It holds no rule of its own; the services do."""

from django_apcore.admin.acl import ACLRuleAdmin
from django_apcore.admin.approvals import ApprovalRequestAdmin
from django_apcore.admin.audit import AuditEntryAdmin
from django_apcore.admin.health import HealthAdmin
from django_apcore.admin.overrides import OverrideAdmin
from django_apcore.admin.policies import ApprovalPolicyAdmin
from django_apcore.admin.tasks import AsyncTaskAdmin
from django_apcore.admin.toggles import ToggleAdmin
from django_apcore.admin.usage import ErrorRecordAdmin, UsageBucketAdmin
from django_apcore.admin.webhooks import OutboxAdmin, WebhookAdmin

__all__ = [
    "ACLRuleAdmin",
    "ApprovalPolicyAdmin",
    "ApprovalRequestAdmin",
    "AsyncTaskAdmin",
    "AuditEntryAdmin",
    "ErrorRecordAdmin",
    "HealthAdmin",
    "OutboxAdmin",
    "OverrideAdmin",
    "ToggleAdmin",
    "UsageBucketAdmin",
    "WebhookAdmin",
]
