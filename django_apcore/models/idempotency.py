"""Answers that were given under an `Idempotency-Key`, kept so that a retry acts only once."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class IdempotentResponse(models.Model):
    """One answer. `status_code` is null while the first request is still running."""

    identity_key = models.CharField(max_length=300)
    key_hash = models.CharField(max_length=64)
    request_hash = models.CharField(max_length=64)
    status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    body_encrypted = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("idempotent response")
        verbose_name_plural = _("idempotent responses")
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["identity_key", "key_hash"], name="apcore_idempotency_key")]

    def __str__(self) -> str:
        return f"{self.key_hash[:12]} {self.status_code or 'running'}"
