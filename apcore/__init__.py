"""The protocol core of governed operations: modules with schemas, called through one path (no Django in here)."""

from apcore.acl import ACL, ACLDecision, ACLRule
from apcore.app import App, build_app
from apcore.approval import (
    AlwaysDenyHandler,
    ApprovalHandler,
    ApprovalRequest,
    ApprovalResult,
    AutoApproveHandler,
    CallbackApprovalHandler,
)
from apcore.context import CancelToken, Context, ContextFactory, Identity
from apcore.effects import EffectRecord
from apcore.errors import ErrorCodes, ErrorFormatterRegistry, ModuleError, format_error, propagate_error
from apcore.execution import Executor, ExecutorSettings, PreflightCheckResult, PreflightResult, Rewrite
from apcore.ids import (
    calculate_specificity,
    detect_id_conflicts,
    directory_to_canonical_id,
    from_canonical,
    match_pattern,
    normalize_to_canonical_id,
)
from apcore.middleware import Middleware
from apcore.modules import (
    Change,
    FunctionModule,
    Module,
    ModuleAnnotations,
    ModuleDescription,
    ModuleExample,
    Plan,
    PlannedModule,
    PreviewResult,
    merge_annotations,
    module,
)
from apcore.pipeline import PipelineState, Step
from apcore.redaction import redact_sensitive
from apcore.registry import (
    REGISTRY_EVENTS,
    Registry,
    resolve_dependencies,
    resolve_module_id,
    to_a2a_skill,
    to_anthropic_tool,
    to_mcp_tool,
    to_openai_function,
)
from apcore.schema import (
    MigrationStep,
    ModuleSchema,
    SchemaLoader,
    SchemaValidator,
    generate_schema_from_function,
    is_backward_compatible,
    migrate_schema,
    resolve_ref,
    to_strict_schema,
)
from apcore.toggles import Toggles
from apcore.versions import negotiate_version, satisfies

__all__ = [
    "ACL",
    "REGISTRY_EVENTS",
    "ACLDecision",
    "ACLRule",
    "AlwaysDenyHandler",
    "App",
    "ApprovalHandler",
    "ApprovalRequest",
    "ApprovalResult",
    "AutoApproveHandler",
    "CallbackApprovalHandler",
    "CancelToken",
    "Change",
    "Context",
    "ContextFactory",
    "EffectRecord",
    "ErrorCodes",
    "ErrorFormatterRegistry",
    "Executor",
    "ExecutorSettings",
    "FunctionModule",
    "Identity",
    "Middleware",
    "MigrationStep",
    "Module",
    "ModuleAnnotations",
    "ModuleDescription",
    "ModuleError",
    "ModuleExample",
    "ModuleSchema",
    "PipelineState",
    "Plan",
    "PlannedModule",
    "PreflightCheckResult",
    "PreflightResult",
    "PreviewResult",
    "Registry",
    "Rewrite",
    "SchemaLoader",
    "SchemaValidator",
    "Step",
    "Toggles",
    "build_app",
    "calculate_specificity",
    "detect_id_conflicts",
    "directory_to_canonical_id",
    "format_error",
    "from_canonical",
    "generate_schema_from_function",
    "is_backward_compatible",
    "match_pattern",
    "merge_annotations",
    "migrate_schema",
    "module",
    "negotiate_version",
    "normalize_to_canonical_id",
    "propagate_error",
    "redact_sensitive",
    "resolve_dependencies",
    "resolve_module_id",
    "resolve_ref",
    "satisfies",
    "to_a2a_skill",
    "to_anthropic_tool",
    "to_mcp_tool",
    "to_openai_function",
    "to_strict_schema",
]
