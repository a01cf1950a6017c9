"""Modules that were switched off, and by whom."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Toggle(models.Model):
    """Whether a module may be called. A module without a row is enabled."""

    module_id = models.CharField(max_length=192, unique=True)
    enabled = models.BooleanField(default=True)
    reason = models.TextField(blank=True)
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="apcore_toggles"
    )
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("toggle")
        verbose_name_plural = _("toggles")
        ordering = ["module_id"]

    def __str__(self) -> str:
        return f"{self.module_id}: {'on' if self.enabled else 'off'}"
