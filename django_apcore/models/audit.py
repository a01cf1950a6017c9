"""The append-only audit trail: hash-chained entries, and the head of each chain."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from django_apcore.models.fields import StorableJSONField


class AuditEntry(models.Model):
    """One thing that happened. Rows are written by `services.audit.append` and never changed or deleted."""

    partition = models.PositiveSmallIntegerField()
    sequence = models.PositiveBigIntegerField()
    at = models.DateTimeField(db_index=True)
    kind = models.CharField(max_length=64, db_index=True)
    actor_id = models.CharField(max_length=255, blank=True)
    actor_type = models.CharField(max_length=32)
    module_id = models.CharField(max_length=192, blank=True)
    trace_id = models.CharField(max_length=32, blank=True)
    subject = models.CharField(max_length=255, db_index=True)
    data = StorableJSONField(default=dict)
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    actor_name = ""
    """The name of a user, once `services.name_actors` has looked it up. Names change, so no entry stores one."""

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        ordering = ["-id"]
        default_permissions = ("view",)
        constraints = [models.UniqueConstraint(fields=["partition", "sequence"], name="apcore_audit_place")]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"

    @property
    def actor(self) -> str:
        """Who did it: `ada (user 7)`, or without the name where none is known."""
        identity = f"{self.actor_type} {self.actor_id}".strip()
        return f"{self.actor_name} ({identity})" if self.actor_name else identity


class AuditChain(models.Model):
    """The last entry of one partition. Whoever appends locks this row first."""

    partition = models.PositiveSmallIntegerField(primary_key=True)
    sequence = models.PositiveBigIntegerField(default=0)
    hash = models.CharField(max_length=64)

    class Meta:
        verbose_name = _("audit chain")
        verbose_name_plural = _("audit chains")
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.partition}/{self.sequence}"
