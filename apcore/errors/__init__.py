"""Every error of the framework: codes, base class, one class per code, propagation and formatting (§8)."""

from apcore.errors.acl import (
    ACLDeniedError,
    ACLRuleError,
)
from apcore.errors.approval import (
    ApprovalDeniedError,
    ApprovalError,
    ApprovalPendingError,
    ApprovalTimeoutError,
)
from apcore.errors.base import (
    ModuleError,
)
from apcore.errors.bindings import (
    BindingCallableNotFoundError,
    BindingFileInvalidError,
    BindingInvalidTargetError,
    BindingModuleNotFoundError,
    BindingNotCallableError,
    BindingSchemaInferenceFailedError,
    BindingSchemaMissingError,
)
from apcore.errors.calls import (
    CallDepthExceededError,
    CallFrequencyExceededError,
    CircularCallError,
    ExecutionCancelledError,
)
from apcore.errors.codes import (
    FRAMEWORK_CODES,
    RESERVED_CODE_PREFIXES,
    ErrorCodes,
)
from apcore.errors.configuration import (
    ConfigBindError,
    ConfigEnvMapConflictError,
    ConfigEnvPrefixConflictError,
    ConfigError,
    ConfigMountError,
    ConfigNamespaceDuplicateError,
    ConfigNamespaceReservedError,
    ConfigNotFoundError,
)
from apcore.errors.custom import (
    detect_error_code_collisions,
    error_code_prefix,
)
from apcore.errors.dependencies import (
    CircularDependencyError,
    DependencyNotFoundError,
    DependencyVersionMismatchError,
)
from apcore.errors.formatting import (
    ErrorFormatter,
    ErrorFormatterRegistry,
    format_error,
)
from apcore.errors.functions import (
    FuncMissingReturnTypeError,
    FuncMissingTypeHintError,
)
from apcore.errors.general import (
    ErrorCodeCollisionError,
    ErrorFormatterDuplicateError,
    InternalError,
    InvalidInputError,
)
from apcore.errors.general import (
    NotImplementedError as NotImplementedError,
)
from apcore.errors.identifiers import (
    IdTooLongError,
    InvalidModuleIdError,
    InvalidPathError,
    InvalidSegmentError,
    ModuleIdConflictError,
)
from apcore.errors.modules import (
    AmbiguousEntryPointError,
    ModuleDisabledError,
    ModuleExecuteError,
    ModuleLoadError,
    ModuleNotFoundError,
    ModuleTimeoutError,
    NoModuleClassError,
    ReloadFailedError,
)
from apcore.errors.pipeline import (
    CircuitBreakerOpenError,
    MiddlewareChainError,
    PipelineStepError,
)
from apcore.errors.propagation import (
    CallContext,
    propagate_error,
)
from apcore.errors.requiring import (
    require,
    require_number,
    require_texts,
)
from apcore.errors.schema import (
    SchemaCircularRefError,
    SchemaNotFoundError,
    SchemaParseError,
    SchemaValidationError,
)
from apcore.errors.versions import (
    MigrationFailedError,
    VersionIncompatibleError,
)

# NotImplementedError is importable by name, and left out here so that a star import keeps the built-in one.
__all__ = [
    "FRAMEWORK_CODES",
    "RESERVED_CODE_PREFIXES",
    "ACLDeniedError",
    "ACLRuleError",
    "AmbiguousEntryPointError",
    "ApprovalDeniedError",
    "ApprovalError",
    "ApprovalPendingError",
    "ApprovalTimeoutError",
    "BindingCallableNotFoundError",
    "BindingFileInvalidError",
    "BindingInvalidTargetError",
    "BindingModuleNotFoundError",
    "BindingNotCallableError",
    "BindingSchemaInferenceFailedError",
    "BindingSchemaMissingError",
    "CallContext",
    "CallDepthExceededError",
    "CallFrequencyExceededError",
    "CircuitBreakerOpenError",
    "CircularCallError",
    "CircularDependencyError",
    "ConfigBindError",
    "ConfigEnvMapConflictError",
    "ConfigEnvPrefixConflictError",
    "ConfigError",
    "ConfigMountError",
    "ConfigNamespaceDuplicateError",
    "ConfigNamespaceReservedError",
    "ConfigNotFoundError",
    "DependencyNotFoundError",
    "DependencyVersionMismatchError",
    "ErrorCodeCollisionError",
    "ErrorCodes",
    "ErrorFormatter",
    "ErrorFormatterDuplicateError",
    "ErrorFormatterRegistry",
    "ExecutionCancelledError",
    "FuncMissingReturnTypeError",
    "FuncMissingTypeHintError",
    "IdTooLongError",
    "InternalError",
    "InvalidInputError",
    "InvalidModuleIdError",
    "InvalidPathError",
    "InvalidSegmentError",
    "MiddlewareChainError",
    "MigrationFailedError",
    "ModuleDisabledError",
    "ModuleError",
    "ModuleExecuteError",
    "ModuleIdConflictError",
    "ModuleLoadError",
    "ModuleNotFoundError",
    "ModuleTimeoutError",
    "NoModuleClassError",
    "PipelineStepError",
    "ReloadFailedError",
    "SchemaCircularRefError",
    "SchemaNotFoundError",
    "SchemaParseError",
    "SchemaValidationError",
    "VersionIncompatibleError",
    "detect_error_code_collisions",
    "error_code_prefix",
    "format_error",
    "propagate_error",
    "require",
    "require_number",
    "require_texts",
]
