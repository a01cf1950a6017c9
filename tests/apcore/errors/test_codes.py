"""The table of errors: code, class, HTTP status, retryability."""

import inspect
import pickle
import re

import pytest

import apcore
import apcore.errors as errors
from apcore.errors import FRAMEWORK_CODES, ErrorCodes, ModuleError, PipelineStepError

# requirement, class, code, HTTP status, retryable
TABLE = [
    ("R-8.2-01", "ConfigNotFoundError", "CONFIG_NOT_FOUND", 500, False),
    ("R-8.2-02", "ConfigError", "CONFIG_INVALID", 500, False),
    ("R-8.2-03", "ModuleNotFoundError", "MODULE_NOT_FOUND", 404, False),
    ("R-8.2-04", "ModuleLoadError", "MODULE_LOAD_ERROR", 500, False),
    ("R-8.2-05", "ModuleExecuteError", "MODULE_EXECUTE_ERROR", 500, None),
    ("R-8.2-06", "ModuleTimeoutError", "MODULE_TIMEOUT", 504, True),
    ("R-8.2-07", "ModuleDisabledError", "MODULE_DISABLED", 403, False),
    ("R-8.2-08", "InvalidModuleIdError", "INVALID_MODULE_ID", 400, False),
    ("R-8.2-09", "ExecutionCancelledError", "EXECUTION_CANCELLED", 499, True),
    ("R-8.2-10", "ReloadFailedError", "RELOAD_FAILED", 500, True),
    ("R-8.2-11", "SchemaNotFoundError", "SCHEMA_NOT_FOUND", 404, False),
    ("R-8.2-12", "SchemaValidationError", "SCHEMA_VALIDATION_ERROR", 400, False),
    ("R-8.2-13", "SchemaParseError", "SCHEMA_PARSE_ERROR", 500, False),
    ("R-8.2-14", "SchemaCircularRefError", "SCHEMA_CIRCULAR_REF", 500, False),
    ("R-8.2-15", "ACLDeniedError", "ACL_DENIED", 403, False),
    ("R-8.2-16", "ACLRuleError", "ACL_RULE_ERROR", 500, False),
    ("R-8.2-17", "FuncMissingTypeHintError", "FUNC_MISSING_TYPE_HINT", 500, False),
    ("R-8.2-18", "FuncMissingReturnTypeError", "FUNC_MISSING_RETURN_TYPE", 500, False),
    ("R-8.2-19", "BindingInvalidTargetError", "BINDING_INVALID_TARGET", 500, False),
    ("R-8.2-20", "BindingModuleNotFoundError", "BINDING_MODULE_NOT_FOUND", 500, False),
    ("R-8.2-21", "BindingCallableNotFoundError", "BINDING_CALLABLE_NOT_FOUND", 500, False),
    ("R-8.2-22", "BindingNotCallableError", "BINDING_NOT_CALLABLE", 500, False),
    ("R-8.2-23", "BindingSchemaInferenceFailedError", "BINDING_SCHEMA_INFERENCE_FAILED", 500, False),
    ("R-8.2-23", "BindingSchemaMissingError", "BINDING_SCHEMA_INFERENCE_FAILED", 500, False),
    ("R-8.2-24", "BindingFileInvalidError", "BINDING_FILE_INVALID", 500, False),
    ("R-8.2-25", "MiddlewareChainError", "MIDDLEWARE_CHAIN_ERROR", 500, False),
    ("R-8.7-01", "CircuitBreakerOpenError", "CIRCUIT_BREAKER_OPEN", 503, True),
    ("R-8.2-26", "VersionIncompatibleError", "VERSION_INCOMPATIBLE", 500, False),
    ("R-8.2-27", "ErrorCodeCollisionError", "ERROR_CODE_COLLISION", 500, False),
    ("R-8.2-28", "CircularDependencyError", "CIRCULAR_DEPENDENCY", 500, False),
    ("R-8.2-29", "DependencyNotFoundError", "DEPENDENCY_NOT_FOUND", 500, False),
    ("R-8.2-30", "DependencyVersionMismatchError", "DEPENDENCY_VERSION_MISMATCH", 500, False),
    ("R-8.2-31", "InvalidInputError", "GENERAL_INVALID_INPUT", 400, False),
    ("R-8.2-32", "InternalError", "GENERAL_INTERNAL_ERROR", 500, True),
    ("R-8.2-33", "NotImplementedError", "GENERAL_NOT_IMPLEMENTED", 501, False),
    ("R-8.2-34", "CallDepthExceededError", "CALL_DEPTH_EXCEEDED", 508, False),
    ("R-8.2-35", "CircularCallError", "CIRCULAR_CALL", 508, False),
    ("R-8.2-36", "CallFrequencyExceededError", "CALL_FREQUENCY_EXCEEDED", 508, False),
    ("R-8.2-37", "ApprovalDeniedError", "APPROVAL_DENIED", 403, False),
    ("R-8.2-38", "ApprovalTimeoutError", "APPROVAL_TIMEOUT", 408, True),
    ("R-8.2-39", "ApprovalPendingError", "APPROVAL_PENDING", 202, False),
    ("R-8.2-41", "ErrorFormatterDuplicateError", "ERROR_FORMATTER_DUPLICATE", 500, False),
    ("R-8.2-42", "InvalidPathError", "INVALID_PATH", 400, False),
    ("R-8.2-42", "InvalidSegmentError", "INVALID_SEGMENT", 400, False),
    ("R-8.2-42", "IdTooLongError", "ID_TOO_LONG", 400, False),
    ("R-8.2-42", "ModuleIdConflictError", "MODULE_ID_CONFLICT", 500, False),
    ("R-8.2-42", "AmbiguousEntryPointError", "AMBIGUOUS_ENTRY_POINT", 500, False),
    ("R-8.2-42", "NoModuleClassError", "NO_MODULE_CLASS", 500, False),
    ("R-8.2-42", "MigrationFailedError", "MIGRATION_FAILED", 500, False),
    ("R-8.7-04", "ConfigNamespaceDuplicateError", "CONFIG_NAMESPACE_DUPLICATE", 500, False),
    ("R-8.7-04", "ConfigNamespaceReservedError", "CONFIG_NAMESPACE_RESERVED", 500, False),
    ("R-8.7-04", "ConfigEnvPrefixConflictError", "CONFIG_ENV_PREFIX_CONFLICT", 500, False),
    ("R-8.7-04", "ConfigMountError", "CONFIG_MOUNT_ERROR", 500, False),
    ("R-8.7-04", "ConfigBindError", "CONFIG_BIND_ERROR", 500, False),
    ("R-8.7-04", "ConfigEnvMapConflictError", "CONFIG_ENV_MAP_CONFLICT", 500, False),
]

CLASSES = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, ModuleError)]


@pytest.mark.req("R-8.6-03", "R-12.2-42")
@pytest.mark.parametrize(
    ("name", "code", "http_status", "retryable"),
    [pytest.param(*row, marks=pytest.mark.req(requirement), id=row[0]) for requirement, *row in TABLE],
)
def test_class_has_code_status_and_retryability(name, code, http_status, retryable):
    error = getattr(errors, name)()

    assert isinstance(error, ModuleError)
    assert (error.code, error.http_status, error.retryable) == (code, http_status, retryable)
    assert getattr(ErrorCodes, code) == code
    assert error.message


@pytest.mark.req("R-8.1.1-02", "R-8.6-03")
@pytest.mark.parametrize(("name", "code", "http_status", "retryable"), [row[1:] for row in TABLE])
def test_a_plain_error_goes_by_its_code(name, code, http_status, retryable):
    error = ModuleError("Told by code alone", code=code)

    assert (error.http_status, error.retryable) == (http_status, retryable)
    assert ModuleError(code=code, http_status=418, retryable=not retryable).to_dict()["retryable"] is not retryable
    assert ModuleError(code=code, http_status=418).http_status == 418


def test_a_code_of_ones_own_and_a_class_of_ones_own_go_by_the_class():
    class Broken(ModuleError):
        http_status, retryable = 422, False

    assert (ModuleError(code="STORE_CLOSED").http_status, ModuleError(code="STORE_CLOSED").retryable) == (500, None)
    assert (Broken(code="MODULE_TIMEOUT").http_status, Broken(code="MODULE_TIMEOUT").retryable) == (422, False)


@pytest.mark.req("R-8.7-04")
def test_every_class_of_the_tree_is_in_the_table():
    named = {getattr(errors, name) for _, name, *_ in TABLE}
    assert set(CLASSES) - named == {ModuleError, errors.ApprovalError, PipelineStepError}


@pytest.mark.req("R-8.7-01", "R-7.5-01", "R-9.9.3-04")
def test_hierarchy_is_flat_apart_from_the_approval_group_and_what_bind_raises():
    deeper = {each: each.__bases__ for each in CLASSES if each.__bases__ != (ModuleError,) and each is not ModuleError}

    assert deeper == {
        errors.ApprovalDeniedError: (errors.ApprovalError,),
        errors.ApprovalTimeoutError: (errors.ApprovalError,),
        errors.ApprovalPendingError: (errors.ApprovalError,),
        errors.ConfigBindError: (errors.ConfigError,),
    }


@pytest.mark.req("R-8.7-02", "R-8.1-03")
def test_every_code_is_upper_snake_case():
    pattern = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")

    assert all(pattern.fullmatch(each.code) for each in CLASSES)
    assert all(pattern.fullmatch(code) for code in FRAMEWORK_CODES)


@pytest.mark.req("R-12.2-42")
def test_constants_equal_their_names():
    assert all(getattr(ErrorCodes, code) == code for code in FRAMEWORK_CODES)
    assert {each.code for each in CLASSES} <= FRAMEWORK_CODES


@pytest.mark.req("R-1.7-03")
def test_class_names_end_in_error():
    assert all(each.__name__.endswith("Error") for each in CLASSES)


@pytest.mark.req("R-8.2-33", "R-8.7-04")
def test_built_in_of_the_same_name_stays_in_place_after_a_star_import():
    assert apcore.NotImplementedError is errors.NotImplementedError
    assert "NotImplementedError" not in {*errors.__all__, *apcore.__all__}
    assert not issubclass(errors.NotImplementedError, NotImplementedError)


@pytest.mark.parametrize("cls", [each for each in CLASSES if each is not PipelineStepError])
def test_errors_travel_between_processes(cls):
    error = cls()
    error.chain.append("a.b")

    arrived = pickle.loads(pickle.dumps(error))

    assert type(arrived) is cls
    assert arrived.to_dict() == error.to_dict()
    assert arrived.chain == ["a.b"]
