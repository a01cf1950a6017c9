"""Configuration values that were changed at run time, and signs of life."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from django_apcore.models.fields import StorableJSONField


class Override(models.Model):
    """A value that is in force instead of the configured one (§6.7); of a secret only its encrypted form is kept."""

    key = models.CharField(max_length=255, unique=True)
    value = StorableJSONField(null=True, blank=True)
    is_secret = models.BooleanField(default=False)
    value_encrypted = models.TextField(blank=True, editable=False)
    reason = models.TextField(blank=True)
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="apcore_overrides"
    )
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("configuration override")
        verbose_name_plural = _("configuration overrides")
        ordering = ["key"]
        default_permissions = ("view", "delete")

    def __str__(self) -> str:
        return self.key


class Heartbeat(models.Model):
    """When something last said that it is there, or was done: `worker:celery@host`, `audit.verified`."""

    WORKER = "worker:"
    AUDIT_VERIFIED = "audit.verified"

    name = models.CharField(max_length=255, primary_key=True)
    at = models.DateTimeField(default=timezone.now)
    details = StorableJSONField(default=dict)

    class Meta:
        verbose_name = _("sign of life")
        verbose_name_plural = _("health")  # which is what its page shows
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.name

    @classmethod
    def name_of(cls, worker: str) -> str:
        """The name under which a worker says that it is alive."""
        return f"{cls.WORKER}{worker}"[:255]
