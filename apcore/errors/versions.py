"""Errors about versions and migrations (§13.3, §13.4)."""

from __future__ import annotations

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class VersionIncompatibleError(ModuleError):
    """A declared version does not fit this release."""

    code = ErrorCodes.VERSION_INCOMPATIBLE
    http_status = 500
    retryable = False
    default_message = "Incompatible version"


class MigrationFailedError(ModuleError):
    """A schema could not be brought to another version."""

    code = ErrorCodes.MIGRATION_FAILED
    http_status = 500
    retryable = False
    default_message = "Migration failed"
