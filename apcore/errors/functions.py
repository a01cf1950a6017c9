"""Errors about functions that cannot become modules (§5.11.11)."""

from __future__ import annotations

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class FuncMissingTypeHintError(ModuleError):
    """A parameter has no usable type annotation."""

    code = ErrorCodes.FUNC_MISSING_TYPE_HINT
    http_status = 500
    retryable = False
    default_message = "A parameter has no usable type annotation"


class FuncMissingReturnTypeError(ModuleError):
    """The function has no usable return annotation."""

    code = ErrorCodes.FUNC_MISSING_RETURN_TYPE
    http_status = 500
    retryable = False
    default_message = "The function has no usable return annotation"
