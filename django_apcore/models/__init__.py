"""The tables of django_apcore."""

from django_apcore.models.acl import ACLRule, PolicyRevision
from django_apcore.models.approvals import ApprovalDecision, ApprovalPolicy, ApprovalRequest, EffectChange
from django_apcore.models.audit import AuditChain, AuditEntry
from django_apcore.models.idempotency import IdempotentResponse
from django_apcore.models.outbox import OutboxMessage
from django_apcore.models.overrides import Heartbeat, Override
from django_apcore.models.tasks import AsyncTask
from django_apcore.models.toggles import Toggle
from django_apcore.models.usage import ErrorRecord, UsageBucket
from django_apcore.models.webhooks import WebhookSubscriber

__all__ = [
    "ACLRule",
    "ApprovalDecision",
    "ApprovalPolicy",
    "ApprovalRequest",
    "AsyncTask",
    "AuditChain",
    "AuditEntry",
    "EffectChange",
    "ErrorRecord",
    "Heartbeat",
    "IdempotentResponse",
    "OutboxMessage",
    "Override",
    "PolicyRevision",
    "Toggle",
    "UsageBucket",
    "WebhookSubscriber",
]
