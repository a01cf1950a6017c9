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
from apcore.registry import REGISTRY_EVENTS, Registry, resolve_dependencies, resolve_module_id
from apcore.toggles import Toggles

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
    "Module",
    "ModuleAnnotations",
    "ModuleDescription",
    "ModuleError",
    "ModuleExample",
    "PipelineState",
    "Plan",
    "PlannedModule",
    "PreflightCheckResult",
    "PreflightResult",
    "PreviewResult",
    "Registry",
    "Rewrite",
    "Step",
    "Toggles",
    "build_app",
    "calculate_specificity",
    "detect_id_conflicts",
    "directory_to_canonical_id",
    "format_error",
    "from_canonical",
    "match_pattern",
    "merge_annotations",
    "module",
    "normalize_to_canonical_id",
    "propagate_error",
    "redact_sensitive",
    "resolve_dependencies",
    "resolve_module_id",
]
