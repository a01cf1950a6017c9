"""The ports of apcore, implemented over the ORM."""

from django_apcore.stores.acl import DatabaseACL
from django_apcore.stores.approvals import DatabaseApprovalHandler
from django_apcore.stores.errors import DatabaseErrorStore
from django_apcore.stores.flushing import DatabaseFlusher
from django_apcore.stores.overrides import DatabaseControls, DatabaseOverridesStore, take_up_overrides
from django_apcore.stores.toggles import DatabaseToggles
from django_apcore.stores.usage import DatabaseUsageStore
from django_apcore.stores.webhooks import WebhookOutbox

__all__ = [
    "DatabaseACL",
    "DatabaseApprovalHandler",
    "DatabaseControls",
    "DatabaseErrorStore",
    "DatabaseFlusher",
    "DatabaseOverridesStore",
    "DatabaseToggles",
    "DatabaseUsageStore",
    "WebhookOutbox",
    "take_up_overrides",
]
