"""Who is told over HTTP about what happens."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


def everything() -> list[str]:
    """The pattern that all events match."""
    return ["*"]


class WebhookSubscriber(models.Model):
    """An address that gets signed events, and how the deliveries went lately.

    The secret signs every delivery. Who may see the row sees neither it nor what was delivered.
    """

    class Severity(models.TextChoices):
        INFO = "info", _("info")
        WARN = "warn", _("warning")
        ERROR = "error", _("error")

    name = models.CharField(max_length=100, unique=True)
    url = models.CharField(_("URL"), max_length=500)
    secret_encrypted = models.TextField(editable=False)
    types = models.JSONField(_("event types"), default=everything, help_text=_("Patterns, such as apcore.approval.*"))
    min_severity = models.CharField(_("from severity"), max_length=8, choices=Severity.choices, default=Severity.INFO)
    modules = models.JSONField(
        default=list, blank=True, help_text=_("Patterns of module IDs. Empty: events about all modules and about none.")
    )
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_delivered_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_failed_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_error = models.CharField(max_length=200, blank=True, editable=False)
    failures = models.PositiveIntegerField(
        _("failures in a row"), default=0, editable=False, help_text=_("Attempts that failed since the last delivery.")
    )

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
