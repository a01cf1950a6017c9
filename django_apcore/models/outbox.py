"""Mail, task messages and webhook deliveries that leave after the commit of the transaction that wrote them."""

import uuid

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class OutboxMessage(models.Model):
    """One message to deliver, at least once, after the transaction that caused it was committed.

    Messages of one transaction are delivered in `position` order as far as none of them has to be tried again.
    """

    class Kind(models.TextChoices):
        MAIL = "mail", _("mail")
        TASK = "task", _("task")
        WEBHOOK = "webhook", _("webhook")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    payload_encrypted = models.TextField()
    idempotency_key = models.CharField(max_length=255, unique=True)
    approval = models.ForeignKey(
        "django_apcore.ApprovalRequest", null=True, blank=True, on_delete=models.PROTECT, related_name="outbox_messages"
    )
    subscriber = models.ForeignKey(
        "django_apcore.WebhookSubscriber", null=True, blank=True, on_delete=models.CASCADE, related_name="deliveries"
    )
    subject = models.CharField(max_length=200, blank=True)
    position = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    delivered_at = models.DateTimeField(null=True, blank=True)
    abandoned_at = models.DateTimeField(
        null=True, blank=True, help_text=_("When the last attempt failed and no other follows: a dead letter.")
    )
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    last_error = models.TextField(blank=True)

    class Meta:
        verbose_name = _("outbox message")
        verbose_name_plural = _("outbox messages")
        ordering = ["created_at", "position"]
        default_permissions = ("view",)
        indexes = [
            models.Index(
                fields=["kind", "next_attempt_at"],
                name="apcore_outbox_waiting",
                condition=models.Q(delivered_at__isnull=True, abandoned_at__isnull=True),
            ),
            models.Index(
                fields=["delivered_at"],
                name="apcore_outbox_delivered",
                condition=models.Q(delivered_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.idempotency_key}"
