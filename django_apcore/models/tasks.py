"""Calls that run in a worker instead of in the caller's process (§5.8)."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apcore.context import Identity
from django_apcore.models.fields import StorableJSONField


class AsyncTask(models.Model):
    """One submitted call. Allowed transitions: pending → running → completed | failed | cancelled (§5.8)."""

    class Status(models.TextChoices):
        PENDING = "pending", _("pending")
        RUNNING = "running", _("running")
        COMPLETED = "completed", _("completed")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    module_id = models.CharField(max_length=192)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.PENDING)
    inputs_encrypted = models.TextField()
    inputs_redacted = StorableJSONField(default=dict)
    context_json = StorableJSONField(default=dict)
    identity_id = models.CharField(max_length=255, blank=True)
    identity_type = models.CharField(max_length=32, blank=True)
    identity_roles = StorableJSONField(default=list)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="apcore_tasks"
    )
    trace_id = models.CharField(max_length=32, db_index=True)
    progress_done = models.PositiveBigIntegerField(default=0)
    progress_total = models.PositiveBigIntegerField(null=True, blank=True)
    progress_message = models.TextField(blank=True)
    result_encrypted = models.TextField(blank=True)
    result_redacted = StorableJSONField(null=True, blank=True)
    error = StorableJSONField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    celery_id = models.CharField(max_length=255, blank=True)
    worker = models.CharField(max_length=255, blank=True, help_text=_("The worker that runs it, or ran it last."))
    workers_lost = models.PositiveSmallIntegerField(
        default=0, help_text=_("Workers that were lost while they ran this task.")
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("asynchronous task")
        verbose_name_plural = _("asynchronous tasks")
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["status", "-created_at"], name="apcore_task_queue"),
            models.Index(fields=["identity_type", "identity_id", "-created_at"], name="apcore_task_identity"),
        ]

    def __str__(self) -> str:
        return f"{self.module_id} ({self.id})"

    @property
    def subject(self) -> str:
        """The name of this task in the audit trail."""
        return f"task:{self.id}"

    def is_from(self, identity: Identity | None) -> bool:
        """Whether this identity submitted the task. Anonymous tasks belong to anonymous callers."""
        asked = (identity.type, identity.id) if identity else ("", "")
        return (self.identity_type, self.identity_id) == asked

    @property
    def is_finished(self) -> bool:
        """Whether the task has reached a state that it never leaves."""
        return self.status in (self.Status.COMPLETED, self.Status.FAILED, self.Status.CANCELLED)

    @property
    def progress(self) -> int:
        """Progress in percent, 0 to 100."""
        if self.status == self.Status.COMPLETED:
            return 100
        if not self.progress_total:
            return 0
        return min(100, self.progress_done * 100 // self.progress_total)
