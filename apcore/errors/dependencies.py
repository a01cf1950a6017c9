"""Errors about the dependencies between modules (§5.3)."""

from __future__ import annotations

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class CircularDependencyError(ModuleError):
    """Modules depend on each other in a circle."""

    code = ErrorCodes.CIRCULAR_DEPENDENCY
    http_status = 500
    retryable = False
    default_message = "Circular dependency"


class DependencyNotFoundError(ModuleError):
    """A module that another one needs does not exist."""

    code = ErrorCodes.DEPENDENCY_NOT_FOUND
    http_status = 500
    retryable = False
    default_message = "Dependency not found"


class DependencyVersionMismatchError(ModuleError):
    """A module that another one needs exists, but not in a version that fits."""

    code = ErrorCodes.DEPENDENCY_VERSION_MISMATCH
    http_status = 500
    retryable = False
    default_message = "Dependency has the wrong version"
