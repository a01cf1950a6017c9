"""Approval requests, the changes they would make, the decisions on them, and the policies that govern them."""

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apcore.context import Identity
from apcore.execution import REWRITE_NOTE
from django_apcore.models.fields import StorableJSONField


class ApprovalPolicy(models.Model):
    """How requests for the modules that match `pattern` are handled. The first active match by `position` wins."""

    name = models.CharField(max_length=100, unique=True)
    pattern = models.CharField(
        max_length=192,
        default="*",
        validators=[RegexValidator(r"^[a-z0-9_.*]+\Z", _("A module ID, with * for any text."))],
        help_text=_("Module pattern, for example store.invoices.*"),
    )
    position = models.IntegerField(
        default=0, help_text=_("Policies are tried in ascending order; the first match wins.")
    )
    expires_after = models.DurationField(
        default=timedelta(hours=24), validators=[MinValueValidator(timedelta(seconds=1))]
    )
    allow_incomplete = models.BooleanField(
        default=False, help_text=_("Requests whose effect is not completely known may be approved, one by one.")
    )
    human_initiated = models.BooleanField(
        default=False, help_text=_("Only a person may start this; services and agents are refused.")
    )
    execute_on_approval = models.BooleanField(
        default=True, help_text=_("A worker executes as soon as it is approved. Otherwise the caller has to come back.")
    )
    deciders = models.ForeignKey(
        "auth.Group", null=True, blank=True, on_delete=models.PROTECT, related_name="apcore_policies"
    )
    revision = models.PositiveIntegerField(default=1, editable=False)
    active = models.BooleanField(default=True)

    class Meta:
        verbose_name = _("approval policy")
        verbose_name_plural = _("approval policies")
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save under the next revision, so that what was approved under an earlier one is asked for again."""
        if not self._state.adding:
            self.revision += 1
        super().save(*args, **kwargs)


class ApprovalRequest(models.Model):
    """One call that waits for, or went through, a person's decision (§7). Status changes only through services."""

    class Status(models.TextChoices):
        PENDING = "pending", _("pending")
        APPROVED = "approved", _("approved")
        CONSUMED = "consumed", _("consumed")
        REJECTED = "rejected", _("rejected")
        EXPIRED = "expired", _("expired")
        CANCELLED = "cancelled", _("cancelled")
        SUPERSEDED = "superseded", _("superseded")
        FAILED = "failed", _("failed")

    class Provenance(models.TextChoices):
        MEASURED = "measured", _("measured")
        PLANNED = "planned", _("planned")
        DECLARED = "declared", _("declared")
        NONE = "none", _("cannot be previewed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.PENDING)

    module_id = models.CharField(max_length=192)
    module_hash = models.CharField(max_length=64)
    module_description = models.TextField(blank=True)
    annotations = StorableJSONField(default=dict)
    compensation = models.TextField(blank=True, help_text=_("How to undo it, in the module's own words."))

    caller_id = models.CharField(max_length=192, null=True, blank=True)
    call_chain = StorableJSONField(default=list)
    identity_id = models.CharField(max_length=255, blank=True)
    identity_type = models.CharField(max_length=32, blank=True)
    identity_roles = StorableJSONField(default=list)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="apcore_requests"
    )
    trace_id = models.CharField(max_length=32, db_index=True)
    context_json = StorableJSONField(default=dict)

    inputs_encrypted = models.TextField()
    inputs_redacted = StorableJSONField(default=dict)
    inputs_digest = models.CharField(max_length=64)
    original_inputs_redacted = StorableJSONField(null=True, blank=True)
    original_inputs_digest = models.CharField(max_length=64)

    provenance = models.CharField(max_length=8, choices=Provenance.choices, default=Provenance.NONE)
    effect_complete = models.BooleanField(default=False)
    effect_gaps = StorableJSONField(default=list)
    effect_unwatched = StorableJSONField(default=list)
    effect_digest = models.CharField(max_length=64)
    effect_counts = StorableJSONField(default=dict)
    effect_total = models.PositiveIntegerField(default=0)
    effect_listed = models.PositiveIntegerField(default=0)
    effect_destructive = models.BooleanField(default=False)
    measured_at = models.DateTimeField(default=timezone.now)

    policy = models.ForeignKey(
        ApprovalPolicy, null=True, blank=True, on_delete=models.SET_NULL, related_name="requests"
    )
    policy_revision = models.PositiveIntegerField(default=0)

    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    executed_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    supersedes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="superseded_by"
    )
    superseded_reason = models.TextField(blank=True, help_text=_("Why this request took the place of an earlier one."))

    result_encrypted = models.TextField(blank=True)
    result_redacted = StorableJSONField(null=True, blank=True)
    committed_digest = models.CharField(max_length=64, blank=True)
    failure = StorableJSONField(null=True, blank=True)
    collected_at = models.DateTimeField(null=True, blank=True)
    collected_key_hash = models.CharField(max_length=64, blank=True)
    details_removed_at = models.DateTimeField(null=True, blank=True)
    executions_begun = models.PositiveSmallIntegerField(
        default=0, help_text=_("Executions that workers began and that never came to an end.")
    )
    execution_begun_at = models.DateTimeField(null=True, blank=True, help_text=_("When a worker last began one."))

    class Meta:
        verbose_name = _("approval request")
        verbose_name_plural = _("approval requests")
        ordering = ["-created_at"]
        permissions = [("decide_approvalrequest", "Can approve or reject approval requests")]
        indexes = [
            models.Index(fields=["status", "-created_at"], name="apcore_approval_queue"),
            models.Index(fields=["status", "expires_at"], name="apcore_approval_expiry"),
            models.Index(fields=["module_id", "status"], name="apcore_approval_module"),
            models.Index(fields=["identity_type", "identity_id", "-created_at"], name="apcore_approval_identity"),
        ]

    def __str__(self) -> str:
        return f"{self.module_id} ({self.id})"

    @property
    def subject(self) -> str:
        """The name of this request in the audit trail."""
        return f"approval:{self.id}"

    @property
    def rewrites(self) -> list[dict[str, str]]:
        """Which rewriters changed the inputs of this very call, in order: `rewriter` and `reason` of each."""
        notes = self.context_json.get("data", {}).get(REWRITE_NOTE) or []
        return [
            {"rewriter": str(note.get("rewriter", "")), "reason": str(note.get("reason", ""))}
            for note in notes
            if note.get("module_id") == self.module_id
        ]

    @property
    def is_by_token(self) -> bool:
        """Whether the caller was recognised by a token, which a program may hold, and not by a person's login."""
        identity = self.context_json.get("identity") or {}
        return bool(identity.get("attrs", {}).get("via") == "token")

    @property
    def is_expired(self) -> bool:
        """Whether the time for this request is over, even if nobody has recorded that yet."""
        return self.expires_at <= timezone.now()

    def has_forbidden_gaps(self, policy: ApprovalPolicy | None) -> bool:
        """Whether the effect has gaps and no policy allows that. What cannot be previewed at all makes no claim."""
        if self.effect_complete or self.provenance == self.Provenance.NONE:
            return False
        return policy is None or not policy.allow_incomplete

    def is_from(self, identity: Identity | None) -> bool:
        """Whether this identity asked for the call. Anonymous requests belong to anonymous callers."""
        asked = (identity.type, identity.id) if identity else ("", "")
        return (self.identity_type, self.identity_id) == asked

    @property
    def needs_confirmation(self) -> bool:
        """Whether an approver has to confirm: something is destroyed, or the effect is not completely known."""
        return self.effect_destructive or not self.effect_complete or bool(self.annotations.get("destructive"))


class EffectChange(models.Model):
    """One listed change of a request's effect, as measured, planned or declared."""

    request = models.ForeignKey(ApprovalRequest, on_delete=models.CASCADE, related_name="changes")
    position = models.PositiveIntegerField()
    action = models.CharField(max_length=64)
    kind = models.CharField(max_length=200, blank=True)
    target = models.TextField()
    label = models.TextField(blank=True)
    summary = models.TextField()
    before = StorableJSONField(null=True, blank=True)
    after = StorableJSONField(null=True, blank=True)
    extras = StorableJSONField(default=dict)

    class Meta:
        verbose_name = _("change")
        verbose_name_plural = _("changes")
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["request", "position"], name="apcore_change_position")]
        indexes = [models.Index(fields=["request", "kind", "action"], name="apcore_change_group")]

    def __str__(self) -> str:
        return self.summary


class ApprovalDecision(models.Model):
    """What a person decided, on which effect, and through which door."""

    class Verdict(models.TextChoices):
        APPROVE = "approve", _("approve")
        REJECT = "reject", _("reject")

    class Channel(models.TextChoices):
        ADMIN = "admin", _("admin")
        API = "api", _("API")
        COMMAND = "command", _("command line")

    request = models.ForeignKey(ApprovalRequest, on_delete=models.PROTECT, related_name="decisions")
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="apcore_decisions")
    decided_by_name = models.CharField(max_length=255)
    reason = models.TextField(blank=True)
    effect_digest = models.CharField(max_length=64)
    decided_at = models.DateTimeField(default=timezone.now)
    channel = models.CharField(max_length=8, choices=Channel.choices)

    class Meta:
        verbose_name = _("approval decision")
        verbose_name_plural = _("approval decisions")
        ordering = ["decided_at", "pk"]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.decided_by_name}"
