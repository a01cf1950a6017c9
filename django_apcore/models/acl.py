"""Access rules, and the revision numbers that tell other processes to read them again."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from django_apcore.models.fields import StorableJSONField


class ACLRule(models.Model):
    """One rule of the access list (§6.1). The first enabled rule that matches, in `position` order, decides."""

    class Effect(models.TextChoices):
        ALLOW = "allow", _("allow")
        DENY = "deny", _("deny")

    position = models.IntegerField(default=0, db_index=True)
    callers = StorableJSONField(default=list, help_text=_('Patterns of calling modules, for example ["@external"].'))
    targets = StorableJSONField(default=list, help_text=_('Patterns of called modules, for example ["store.*"].'))
    effect = models.CharField(max_length=8, choices=Effect.choices)
    conditions = StorableJSONField(null=True, blank=True)
    description = models.CharField(max_length=255, blank=True)
    enabled = models.BooleanField(default=True)

    class Meta:
        verbose_name = _("ACL rule")
        verbose_name_plural = _("ACL rules")
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return self.description or f"{self.effect} {self.callers} → {self.targets}"

    def to_dict(self) -> dict[str, Any]:
        """The rule in the form of ACL files (§6.1), as `apcore.acl.ACLRule.from_dict` reads it."""
        rule = {"callers": self.callers, "targets": self.targets, "effect": self.effect}
        if self.description:
            rule["description"] = self.description
        if self.conditions is not None:
            rule["conditions"] = self.conditions
        return rule


class PolicyRevision(models.Model):
    """How often one kind of policy was changed. Snapshots in memory are as good as their revision."""

    ACL = "acl"
    TOGGLES = "toggles"
    POLICIES = "policies"

    name = models.CharField(max_length=32, primary_key=True)
    revision = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = _("policy revision")
        verbose_name_plural = _("policy revisions")

    def __str__(self) -> str:
        return f"{self.name} {self.revision}"
