"""Errors about modules: finding, loading and running them (§8.2 MODULE_*, §5.2, §12.7.3)."""

from __future__ import annotations

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class ModuleNotFoundError(ModuleError):
    """No module has this ID."""

    code = ErrorCodes.MODULE_NOT_FOUND
    http_status = 404
    retryable = False
    default_message = "Module not found"


class ModuleLoadError(ModuleError):
    """A module exists but cannot be loaded."""

    code = ErrorCodes.MODULE_LOAD_ERROR
    http_status = 500
    retryable = False
    default_message = "Module cannot be loaded"


class ModuleExecuteError(ModuleError):
    """A module raised something that is not a ``ModuleError``; whether to retry depends on ``idempotent`` (§8.6)."""

    code = ErrorCodes.MODULE_EXECUTE_ERROR
    http_status = 500
    retryable = None
    default_message = "Module failed"


class ModuleTimeoutError(ModuleError):
    """A module did not finish before its deadline."""

    code = ErrorCodes.MODULE_TIMEOUT
    http_status = 504
    retryable = True
    default_message = "Module timed out"


class ModuleDisabledError(ModuleError):
    """The module is switched off."""

    code = ErrorCodes.MODULE_DISABLED
    http_status = 403
    retryable = False
    default_message = "Module is disabled"


class ReloadFailedError(ModuleError):
    """A module could not be reloaded; the old one stays."""

    code = ErrorCodes.RELOAD_FAILED
    http_status = 500
    retryable = True
    default_message = "Module cannot be reloaded"


class AmbiguousEntryPointError(ModuleError):
    """A file holds several module classes and nothing says which one is meant (§5.2)."""

    code = ErrorCodes.AMBIGUOUS_ENTRY_POINT
    http_status = 500
    retryable = False
    default_message = "Several module classes in one file"


class NoModuleClassError(ModuleError):
    """A file holds no module class (§5.2)."""

    code = ErrorCodes.NO_MODULE_CLASS
    http_status = 500
    retryable = False
    default_message = "No module class in the file"
