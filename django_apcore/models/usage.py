"""How often modules were called, and which errors they had."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class UsageBucket(models.Model):
    """The calls of one module, by one kind of caller, in one period, that took about equally long (§10.4).

    A period is one hour, or a day once its hours are older than the retention. One row per bin of the latency
    histogram, so that every process adds with one additive upsert and never reads what it changes.
    """

    start = models.DateTimeField()
    hours = models.PositiveSmallIntegerField(default=1)
    module_id = models.CharField(max_length=192)
    caller_type = models.CharField(max_length=32)
    latency_bin = models.SmallIntegerField()
    calls = models.PositiveBigIntegerField(default=0)
    errors = models.PositiveBigIntegerField(default=0)
    faults = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text=_("Errors of the module's own, and not of its callers.")
    )
    total_ms = models.FloatField(default=0)
    last_called_at = models.DateTimeField()

    class Meta:
        verbose_name = _("usage")
        verbose_name_plural = _("usage")
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                fields=["start", "hours", "module_id", "caller_type", "latency_bin"], name="apcore_usage_bucket"
            )
        ]
        indexes = [models.Index(fields=["module_id", "start"], name="apcore_usage_module")]

    def __str__(self) -> str:
        return f"{self.module_id} {self.start:%Y-%m-%d %H:%M}"


class ErrorRecord(models.Model):
    """One kind of error of a module, without its inputs or any text that may be secret, and how often it happened."""

    fingerprint = models.CharField(max_length=32, unique=True)
    module_id = models.CharField(max_length=192)
    code = models.CharField(max_length=128)
    kind = models.CharField(max_length=128)
    message = models.TextField(blank=True)
    where = models.CharField(max_length=255, blank=True)
    trace_id = models.CharField(max_length=32, blank=True)
    count = models.PositiveBigIntegerField(default=0)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = _("error")
        verbose_name_plural = _("errors")
        ordering = ["-last_at", "fingerprint"]
        default_permissions = ("view",)
        indexes = [models.Index(fields=["module_id", "-last_at"], name="apcore_error_module")]

    def __str__(self) -> str:
        return f"{self.code} {self.module_id}"
