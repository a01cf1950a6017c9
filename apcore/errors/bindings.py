"""Errors of binding files and their targets (§5.12.8)."""

from __future__ import annotations

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class BindingInvalidTargetError(ModuleError):
    """A ``target_id`` is not of the form ``package.module:callable``."""

    code = ErrorCodes.BINDING_INVALID_TARGET
    http_status = 500
    retryable = False
    default_message = "Malformed binding target"


class BindingModuleNotFoundError(ModuleError):
    """The Python module of a target cannot be imported."""

    code = ErrorCodes.BINDING_MODULE_NOT_FOUND
    http_status = 500
    retryable = False
    default_message = "The module of a binding target cannot be imported"


class BindingCallableNotFoundError(ModuleError):
    """The Python module of a target has no such attribute."""

    code = ErrorCodes.BINDING_CALLABLE_NOT_FOUND
    http_status = 500
    retryable = False
    default_message = "Binding target not found"


class BindingNotCallableError(ModuleError):
    """The target is not callable."""

    code = ErrorCodes.BINDING_NOT_CALLABLE
    http_status = 500
    retryable = False
    default_message = "Binding target is not callable"


class BindingSchemaInferenceFailedError(ModuleError):
    """The target has no type hints from which a schema can be made."""

    code = ErrorCodes.BINDING_SCHEMA_INFERENCE_FAILED
    http_status = 500
    retryable = False
    default_message = "No schema can be inferred for a binding target"


# The name of the tree in §8.7, from before the code was renamed.
BindingSchemaMissingError = BindingSchemaInferenceFailedError


class BindingFileInvalidError(ModuleError):
    """A binding file cannot be read."""

    code = ErrorCodes.BINDING_FILE_INVALID
    http_status = 500
    retryable = False
    default_message = "Invalid binding file"
