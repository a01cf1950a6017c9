"""General errors (§8.2 GENERAL_*) and the two about the error system itself (§8.4, §8.8)."""

from __future__ import annotations

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class InvalidInputError(ModuleError):
    """The caller passed something that the framework cannot accept."""

    code = ErrorCodes.GENERAL_INVALID_INPUT
    http_status = 400
    retryable = False
    default_message = "Invalid input"


class InternalError(ModuleError):
    """The framework itself failed; trying again may succeed."""

    code = ErrorCodes.GENERAL_INTERNAL_ERROR
    http_status = 500
    retryable = True
    default_message = "Internal error"


class NotImplementedError(ModuleError):
    """The feature is not implemented. Not the built-in of the same name."""

    code = ErrorCodes.GENERAL_NOT_IMPLEMENTED
    http_status = 501
    retryable = False
    default_message = "Not implemented"


class ErrorCodeCollisionError(ModuleError):
    """A module declares an error code that the framework or another module owns (§8.4)."""

    code = ErrorCodes.ERROR_CODE_COLLISION
    http_status = 500
    retryable = False
    default_message = "Error code collision"


class ErrorFormatterDuplicateError(ModuleError):
    """An adapter name has a formatter already (§8.8.2)."""

    code = ErrorCodes.ERROR_FORMATTER_DUPLICATE
    http_status = 500
    retryable = False
    default_message = "Error formatter registered twice"
