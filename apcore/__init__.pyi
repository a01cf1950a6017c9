from .acl import (
    ACL as ACL,
)
from .acl import ACLChecker as ACLChecker
from .acl import (
    ACLDecision as ACLDecision,
)
from .acl import (
    ACLRule as ACLRule,
)
from .acl import (
    evaluate_acl as evaluate_acl,
)
from .app import (
    App as App,
)
from .app import (
    build_app as build_app,
)
from .approval import (
    AlwaysDenyHandler as AlwaysDenyHandler,
)
from .approval import (
    ApprovalHandler as ApprovalHandler,
)
from .approval import (
    ApprovalRequest as ApprovalRequest,
)
from .approval import (
    ApprovalResult as ApprovalResult,
)
from .approval import (
    AutoApproveHandler as AutoApproveHandler,
)
from .approval import (
    CallbackApprovalHandler as CallbackApprovalHandler,
)
from .config import (
    Config as Config,
)
from .config import (
    apply_namespace_env_overrides as apply_namespace_env_overrides,
)
from .config import (
    auto_resolve as auto_resolve,
)
from .config import (
    detect_config_mode as detect_config_mode,
)
from .config import (
    discover_config_file as discover_config_file,
)
from .config import (
    dispatch_env_var as dispatch_env_var,
)
from .config import (
    resolve_namespace_path as resolve_namespace_path,
)
from .config import (
    validate_config as validate_config,
)
from .config import (
    validate_config_ns as validate_config_ns,
)
from .context import (
    CancelToken as CancelToken,
)
from .context import (
    Context as Context,
)
from .context import (
    ContextFactory as ContextFactory,
)
from .context import (
    Identity as Identity,
)
from .discovery import (
    BindingLoader as BindingLoader,
)
from .discovery import (
    ResolvedModule as ResolvedModule,
)
from .discovery import (
    discover_multi_class as discover_multi_class,
)
from .discovery import (
    display_of as display_of,
)
from .discovery import (
    resolve_display as resolve_display,
)
from .discovery import (
    resolve_entry_point as resolve_entry_point,
)
from .discovery import (
    resolve_target as resolve_target,
)
from .discovery import (
    scan_conventions as scan_conventions,
)
from .discovery import (
    scan_extensions as scan_extensions,
)
from .effects import EffectRecord as EffectRecord
from .errors import (
    ACLDeniedError as ACLDeniedError,
)
from .errors import (
    ACLRuleError as ACLRuleError,
)
from .errors import (
    AmbiguousEntryPointError as AmbiguousEntryPointError,
)
from .errors import (
    ApprovalDeniedError as ApprovalDeniedError,
)
from .errors import (
    ApprovalError as ApprovalError,
)
from .errors import (
    ApprovalPendingError as ApprovalPendingError,
)
from .errors import (
    ApprovalTimeoutError as ApprovalTimeoutError,
)
from .errors import (
    BindingCallableNotFoundError as BindingCallableNotFoundError,
)
from .errors import (
    BindingFileInvalidError as BindingFileInvalidError,
)
from .errors import (
    BindingInvalidTargetError as BindingInvalidTargetError,
)
from .errors import (
    BindingModuleNotFoundError as BindingModuleNotFoundError,
)
from .errors import (
    BindingNotCallableError as BindingNotCallableError,
)
from .errors import (
    BindingSchemaInferenceFailedError as BindingSchemaInferenceFailedError,
)
from .errors import (
    BindingSchemaMissingError as BindingSchemaMissingError,
)
from .errors import (
    CallDepthExceededError as CallDepthExceededError,
)
from .errors import (
    CallFrequencyExceededError as CallFrequencyExceededError,
)
from .errors import CircuitBreakerOpenError as CircuitBreakerOpenError
from .errors import (
    CircularCallError as CircularCallError,
)
from .errors import (
    CircularDependencyError as CircularDependencyError,
)
from .errors import (
    ConfigBindError as ConfigBindError,
)
from .errors import (
    ConfigEnvMapConflictError as ConfigEnvMapConflictError,
)
from .errors import (
    ConfigEnvPrefixConflictError as ConfigEnvPrefixConflictError,
)
from .errors import (
    ConfigError as ConfigError,
)
from .errors import (
    ConfigMountError as ConfigMountError,
)
from .errors import (
    ConfigNamespaceDuplicateError as ConfigNamespaceDuplicateError,
)
from .errors import (
    ConfigNamespaceReservedError as ConfigNamespaceReservedError,
)
from .errors import (
    ConfigNotFoundError as ConfigNotFoundError,
)
from .errors import (
    DependencyNotFoundError as DependencyNotFoundError,
)
from .errors import (
    DependencyVersionMismatchError as DependencyVersionMismatchError,
)
from .errors import (
    ErrorCodeCollisionError as ErrorCodeCollisionError,
)
from .errors import (
    ErrorCodes as ErrorCodes,
)
from .errors import (
    ErrorFormatter as ErrorFormatter,
)
from .errors import (
    ErrorFormatterDuplicateError as ErrorFormatterDuplicateError,
)
from .errors import (
    ErrorFormatterRegistry as ErrorFormatterRegistry,
)
from .errors import (
    ExecutionCancelledError as ExecutionCancelledError,
)
from .errors import (
    FuncMissingReturnTypeError as FuncMissingReturnTypeError,
)
from .errors import (
    FuncMissingTypeHintError as FuncMissingTypeHintError,
)
from .errors import (
    IdTooLongError as IdTooLongError,
)
from .errors import (
    InternalError as InternalError,
)
from .errors import (
    InvalidInputError as InvalidInputError,
)
from .errors import (
    InvalidModuleIdError as InvalidModuleIdError,
)
from .errors import (
    InvalidPathError as InvalidPathError,
)
from .errors import (
    InvalidSegmentError as InvalidSegmentError,
)
from .errors import (
    MiddlewareChainError as MiddlewareChainError,
)
from .errors import (
    MigrationFailedError as MigrationFailedError,
)
from .errors import (
    ModuleDisabledError as ModuleDisabledError,
)
from .errors import (
    ModuleError as ModuleError,
)
from .errors import (
    ModuleExecuteError as ModuleExecuteError,
)
from .errors import (
    ModuleIdConflictError as ModuleIdConflictError,
)
from .errors import (
    ModuleLoadError as ModuleLoadError,
)
from .errors import (
    ModuleNotFoundError as ModuleNotFoundError,
)
from .errors import (
    ModuleTimeoutError as ModuleTimeoutError,
)
from .errors import (
    NoModuleClassError as NoModuleClassError,
)
from .errors import (
    NotImplementedError as NotImplementedError,
)
from .errors import (
    PipelineStepError as PipelineStepError,
)
from .errors import (
    ReloadFailedError as ReloadFailedError,
)
from .errors import (
    SchemaCircularRefError as SchemaCircularRefError,
)
from .errors import (
    SchemaNotFoundError as SchemaNotFoundError,
)
from .errors import (
    SchemaParseError as SchemaParseError,
)
from .errors import (
    SchemaValidationError as SchemaValidationError,
)
from .errors import (
    VersionIncompatibleError as VersionIncompatibleError,
)
from .errors import (
    detect_error_code_collisions as detect_error_code_collisions,
)
from .errors import (
    format_error as format_error,
)
from .errors import (
    propagate_error as propagate_error,
)
from .events import (
    Event as Event,
)
from .events import (
    EventEmitter as EventEmitter,
)
from .execution import (
    ExecutionResult as ExecutionResult,
)
from .execution import (
    Executor as Executor,
)
from .execution import (
    ExecutorSettings as ExecutorSettings,
)
from .execution import (
    PreflightCheckResult as PreflightCheckResult,
)
from .execution import (
    PreflightResult as PreflightResult,
)
from .execution import (
    Rewrite as Rewrite,
)
from .execution import (
    approval_gate as approval_gate,
)
from .execution import (
    call_for_model as call_for_model,
)
from .execution import (
    call_for_model_async as call_for_model_async,
)
from .execution import (
    deep_merge as deep_merge,
)
from .execution import (
    deep_merge_chunks as deep_merge_chunks,
)
from .execution import (
    enforce_timeout as enforce_timeout,
)
from .extensions import EXTENSION_POINTS as EXTENSION_POINTS
from .extensions import ExtensionManager as ExtensionManager
from .extensions import apply_extensions as apply_extensions
from .extensions import load_extensions as load_extensions
from .ids import (
    IdMap as IdMap,
)
from .ids import (
    calculate_specificity as calculate_specificity,
)
from .ids import (
    detect_id_conflicts as detect_id_conflicts,
)
from .ids import (
    directory_to_canonical_id as directory_to_canonical_id,
)
from .ids import (
    from_canonical as from_canonical,
)
from .ids import (
    match_pattern as match_pattern,
)
from .ids import (
    normalize_to_canonical_id as normalize_to_canonical_id,
)
from .middleware import Middleware as Middleware
from .middleware import MiddlewareManager as MiddlewareManager
from .middleware import Retry as Retry
from .middleware.builtin.circuit_breaker import CircuitBreakerMiddleware as CircuitBreakerMiddleware
from .middleware.builtin.error_history import ErrorHistoryMiddleware as ErrorHistoryMiddleware
from .middleware.builtin.platform_notify import PlatformNotifyMiddleware as PlatformNotifyMiddleware
from .middleware.builtin.retry import RetryMiddleware as RetryMiddleware
from .middleware.builtin.usage import UsageMiddleware as UsageMiddleware
from .modules import (
    Change as Change,
)
from .modules import (
    FunctionModule as FunctionModule,
)
from .modules import (
    Module as Module,
)
from .modules import (
    ModuleAnnotations as ModuleAnnotations,
)
from .modules import (
    ModuleDescription as ModuleDescription,
)
from .modules import (
    ModuleExample as ModuleExample,
)
from .modules import (
    Plan as Plan,
)
from .modules import (
    PlannedModule as PlannedModule,
)
from .modules import (
    PreviewResult as PreviewResult,
)
from .modules import (
    generate_module_id as generate_module_id,
)
from .modules import (
    merge_annotations as merge_annotations,
)
from .modules import (
    module as module,
)
from .pipeline import (
    PipelineState as PipelineState,
)
from .pipeline import (
    Step as Step,
)
from .redaction import redact_sensitive as redact_sensitive
from .registry import (
    REGISTRY_EVENTS as REGISTRY_EVENTS,
)
from .registry import (
    Registry as Registry,
)
from .registry import (
    resolve_dependencies as resolve_dependencies,
)
from .registry import (
    resolve_module_id as resolve_module_id,
)
from .registry import (
    safe_unregister as safe_unregister,
)
from .registry import (
    to_a2a_skill as to_a2a_skill,
)
from .registry import (
    to_anthropic_tool as to_anthropic_tool,
)
from .registry import (
    to_mcp_tool as to_mcp_tool,
)
from .registry import (
    to_openai_function as to_openai_function,
)
from .schema import (
    MigrationStep as MigrationStep,
)
from .schema import (
    ModuleSchema as ModuleSchema,
)
from .schema import (
    SchemaLoader as SchemaLoader,
)
from .schema import (
    SchemaValidator as SchemaValidator,
)
from .schema import (
    generate_schema_from_function as generate_schema_from_function,
)
from .schema import (
    is_backward_compatible as is_backward_compatible,
)
from .schema import (
    migrate_schema as migrate_schema,
)
from .schema import (
    resolve_ref as resolve_ref,
)
from .schema import (
    to_strict_schema as to_strict_schema,
)
from .system import (
    MemoryOverridesStore as MemoryOverridesStore,
)
from .system import (
    OverridesStore as OverridesStore,
)
from .system import (
    SysModulesSettings as SysModulesSettings,
)
from .system import (
    register_sys_modules as register_sys_modules,
)
from .tasks import (
    AsyncTaskManager as AsyncTaskManager,
)
from .tasks import (
    TaskStatus as TaskStatus,
)
from .telemetry.error_history import ErrorHistory as ErrorHistory
from .telemetry.health import HealthThresholds as HealthThresholds
from .telemetry.metrics import MetricsCollector as MetricsCollector
from .telemetry.tracing import TracingProvider as TracingProvider
from .telemetry.usage import UsageCollector as UsageCollector
from .toggles import Toggles as Toggles
from .toggles import ToggleState as ToggleState
from .versions import (
    negotiate_version as negotiate_version,
)
from .versions import (
    satisfies as satisfies,
)
