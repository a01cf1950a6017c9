"""The access list that lives in the database."""

from typing import Final

from django.db import router

from apcore.acl import ACL, Policy
from django_apcore.conf import acl_conditions, get_settings
from django_apcore.models import ACLRule, PolicyRevision
from django_apcore.stores._freshness import Freshness

SYSTEM_IS_CLOSED: Final = {
    "callers": ["@external"],
    "targets": ["system.*"],
    "effect": "deny",
    "description": "System modules are open to callers from outside only by a rule that says so (§6.6.3)",
}
"""The last rule where the default is to allow."""


class DatabaseACL(ACL):
    """The enabled rules of the database, in order, as a snapshot that the executor keeps fresh (§6).

    Before the first refresh everything is denied. A row that is no valid rule makes `refresh()` raise ACLRuleError, and
    so every call fails: an access list that cannot be read opens nothing.
    """

    def __init__(self) -> None:
        self._freshness = Freshness(PolicyRevision.ACL, self._load)
        super().__init__((), "deny", conditions=acl_conditions())

    @property
    def is_stale(self) -> bool:
        """Whether `refresh()` has to be called before a decision."""
        return self._freshness.is_stale

    def refresh(self) -> None:
        """Take up rules that were changed. Raises ACLRuleError, and what the database raises."""
        self._freshness.refresh()

    @property
    def policy(self) -> Policy:
        """The rules that count now."""
        self._freshness.refresh_unless_async()
        return super().policy

    def _load(self) -> None:
        rows = ACLRule.objects.using(router.db_for_read(ACLRule)).filter(enabled=True).order_by("position", "pk")
        default = get_settings().acl_default_effect
        rules = [row.to_dict() for row in rows]
        if default == "allow":
            self.replace([*rules, SYSTEM_IS_CLOSED], "allow")
        else:
            self.replace(rules, "deny")
