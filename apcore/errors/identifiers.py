"""Errors about module IDs and the paths that they come from (§2.1, §2.1.1)."""

from __future__ import annotations

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class InvalidModuleIdError(ModuleError):
    """A module ID is outside the grammar (§2.7) or uses a reserved word (§2.5)."""

    code = ErrorCodes.INVALID_MODULE_ID
    http_status = 400
    retryable = False
    default_message = "Invalid module ID"


class InvalidPathError(ModuleError):
    """A file path cannot become a module ID."""

    code = ErrorCodes.INVALID_PATH
    http_status = 400
    retryable = False
    default_message = "Invalid module path"


class InvalidSegmentError(ModuleError):
    """One part of a file path cannot become a segment of a module ID."""

    code = ErrorCodes.INVALID_SEGMENT
    http_status = 400
    retryable = False
    default_message = "Invalid segment in the module path"


class IdTooLongError(ModuleError):
    """A file path gives a module ID above the length limit."""

    code = ErrorCodes.ID_TOO_LONG
    http_status = 400
    retryable = False
    default_message = "Module ID too long"


class ModuleIdConflictError(ModuleError):
    """Two module classes of one file give the same ID (§2.1.1)."""

    code = ErrorCodes.MODULE_ID_CONFLICT
    http_status = 500
    retryable = False
    default_message = "Two module classes give the same ID"
