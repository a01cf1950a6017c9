"""How modules, approval requests and tasks are written. All of it is read-only; request bodies are in `bodies.py`."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apcore.ids import is_system_module
from apcore.modules import ModuleDefinition, describe
from django_apcore import runtime
from django_apcore.api.effects import change_dict, effect_dict, effect_summary
from django_apcore.api.links import link
from django_apcore.models import ApprovalDecision, ApprovalRequest, AsyncTask, EffectChange
from django_apcore.secrets import decrypt


class ModuleSummarySerializer(serializers.Serializer[ModuleDefinition]):
    """A module in the list."""

    module_id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    version = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    annotations = serializers.DictField()
    effect = serializers.ChoiceField(
        ["transactional", "planned", "declared", "none"], help_text="How the effect of a call is known beforehand."
    )
    requires_approval = serializers.BooleanField()
    enabled = serializers.BooleanField()
    is_system = serializers.BooleanField(help_text="Whether it is one of the framework's own, by its ID (§6.6.2).")
    timeout_ms = serializers.IntegerField(allow_null=True)
    url = serializers.URLField()

    def to_representation(self, instance: ModuleDefinition) -> dict[str, Any]:
        module = describe(instance).to_dict() | {
            "effect": instance.effect,
            "requires_approval": instance.requires_approval,
            "enabled": runtime.get().toggles.is_enabled(instance.module_id),
            "is_system": is_system_module(instance.module_id),
            "timeout_ms": instance.timeout_ms,
            "url": link(self.context["request"], "module", instance.module_id),
        }
        return {name: module[name] for name in self.fields.keys()}  # noqa: SIM118 - the stubs take it for a list


class ModuleSerializer(ModuleSummarySerializer):
    """A module with everything that a caller needs to know."""

    documentation = serializers.CharField(allow_null=True)
    input_schema = serializers.DictField()
    output_schema = serializers.DictField()
    examples = serializers.ListField(child=serializers.DictField())
    metadata = serializers.DictField()


class IdentitySerializer(serializers.Serializer[ApprovalRequest | AsyncTask]):
    """Who asked."""

    id = serializers.CharField(source="identity_id")
    type = serializers.CharField(source="identity_type")
    roles = serializers.ListField(child=serializers.CharField(), source="identity_roles")
    username = serializers.CharField(source="requested_by.username", default=None, allow_null=True)


class EffectSummarySerializer(serializers.Serializer[ApprovalRequest]):
    """What a call would change, in numbers, and how far that is known."""

    provenance = serializers.ChoiceField(ApprovalRequest.Provenance.values)
    digest = serializers.CharField()
    complete = serializers.BooleanField()
    destructive = serializers.BooleanField()
    counts = serializers.DictField(child=serializers.IntegerField())
    total = serializers.IntegerField()
    gaps = serializers.ListField(child=serializers.CharField(), help_text="What could not be accounted for.")
    unwatched = serializers.ListField(child=serializers.CharField(), help_text="What nobody looked at.")

    def to_representation(self, instance: ApprovalRequest) -> dict[str, Any]:
        return effect_summary(instance)


class ChangeSerializer(serializers.Serializer[EffectChange]):
    """One change. Further members start with `x-`."""

    action = serializers.CharField()
    target = serializers.CharField()
    summary = serializers.CharField()
    before = serializers.JSONField(required=False)
    after = serializers.JSONField(required=False)

    def to_representation(self, instance: EffectChange) -> dict[str, Any]:
        return change_dict(instance)


class EffectSerializer(EffectSummarySerializer):
    """What a call would change. At most 100 changes are listed here; digest, counts and total cover all."""

    changes = ChangeSerializer(many=True)

    def to_representation(self, instance: ApprovalRequest) -> dict[str, Any]:
        return effect_dict(instance)


class DecisionSerializer(serializers.ModelSerializer[ApprovalDecision]):
    """What a person decided, on which effect."""

    decided_by = serializers.CharField(source="decided_by_name")

    class Meta:
        model = ApprovalDecision
        fields = ["verdict", "decided_by", "reason", "effect_digest", "decided_at", "channel"]


@extend_schema_field({"type": "string", "oneOf": [{"const": value} for value in ApprovalRequest.Status.values]})
class ApprovalStatusField(serializers.CharField):
    """Described in place: two named enumerations for fields called `status` would need the project's help."""


@extend_schema_field({"type": "string", "oneOf": [{"const": value} for value in AsyncTask.Status.values]})
class TaskStatusField(serializers.CharField):
    """As above."""


class ApprovalSummarySerializer(serializers.ModelSerializer[ApprovalRequest]):
    """An approval request in the list."""

    status = ApprovalStatusField()
    identity = IdentitySerializer(source="*")
    effect = EffectSummarySerializer(source="*")
    status_url = serializers.SerializerMethodField()

    class Meta:
        model = ApprovalRequest
        fields = [
            "id",
            "status",
            "module_id",
            "module_description",
            "caller_id",
            "identity",
            "effect",
            "created_at",
            "expires_at",
            "decided_at",
            "finished_at",
            "trace_id",
            "status_url",
        ]

    @extend_schema_field(serializers.URLField())
    def get_status_url(self, request: ApprovalRequest) -> str:
        return link(self.context["request"], "approval", request.pk)


class ApprovalSerializer(ApprovalSummarySerializer):
    """An approval request, without anything that its inputs mark as sensitive."""

    call_chain = serializers.ListField(child=serializers.CharField())
    annotations = serializers.DictField()
    inputs = serializers.DictField(source="inputs_redacted")
    original_inputs = serializers.DictField(source="original_inputs_redacted", allow_null=True)
    rewrites = serializers.ListField(child=serializers.DictField(), help_text="Who changed the inputs, and why.")
    preview = EffectSerializer(source="*")
    policy = serializers.CharField(source="policy.name", default=None, allow_null=True)
    decisions = DecisionSerializer(many=True)
    supersedes = serializers.UUIDField(source="supersedes_id", allow_null=True)
    superseded_by = serializers.UUIDField(source="superseded_by.pk", default=None, allow_null=True)
    failure = serializers.DictField(allow_null=True)

    class Meta(ApprovalSummarySerializer.Meta):
        fields = [
            *(name for name in ApprovalSummarySerializer.Meta.fields if name != "effect"),
            "call_chain",
            "annotations",
            "inputs",
            "original_inputs",
            "rewrites",
            "preview",
            "measured_at",
            "policy",
            "decisions",
            "executed_at",
            "supersedes",
            "superseded_by",
            "superseded_reason",
            "details_removed_at",
            "committed_digest",
            "failure",
        ]


class TaskSummarySerializer(serializers.ModelSerializer[AsyncTask]):
    """An asynchronous task in the list."""

    status = TaskStatusField()
    identity = IdentitySerializer(source="*")
    progress = serializers.IntegerField(min_value=0, max_value=100, help_text="In percent.")
    status_url = serializers.SerializerMethodField()

    class Meta:
        model = AsyncTask
        fields = [
            "id",
            "status",
            "module_id",
            "identity",
            "progress",
            "progress_done",
            "progress_total",
            "progress_message",
            "cancel_requested",
            "created_at",
            "started_at",
            "finished_at",
            "trace_id",
            "status_url",
        ]

    @extend_schema_field(serializers.URLField())
    def get_status_url(self, task: AsyncTask) -> str:
        return link(self.context["request"], "task", task.pk)


class TaskSerializer(TaskSummarySerializer):
    """An asynchronous task. Its result is complete for who submitted it, and redacted for everybody else."""

    inputs = serializers.DictField(source="inputs_redacted")
    result = serializers.SerializerMethodField()
    error = serializers.DictField(allow_null=True)

    class Meta(TaskSummarySerializer.Meta):
        fields = [*TaskSummarySerializer.Meta.fields, "inputs", "result", "error"]

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_result(self, task: AsyncTask) -> Any:
        identity = self.context["identity"]
        own = identity is not None and (identity.type, identity.id) == (task.identity_type, task.identity_id)
        return decrypt(task.result_encrypted) if own and task.result_encrypted else task.result_redacted
