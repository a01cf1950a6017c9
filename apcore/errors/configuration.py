"""Errors of the configuration (§8.2 CONFIG_*, §9.12.4)."""

from __future__ import annotations

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class ConfigError(ModuleError):
    """The configuration is invalid."""

    code = ErrorCodes.CONFIG_INVALID
    http_status = 500
    retryable = False
    default_message = "Invalid configuration"


class ConfigNotFoundError(ModuleError):
    """The configuration file does not exist."""

    code = ErrorCodes.CONFIG_NOT_FOUND
    http_status = 500
    retryable = False
    default_message = "Configuration file not found"


class ConfigNamespaceDuplicateError(ModuleError):
    """A namespace was registered twice."""

    code = ErrorCodes.CONFIG_NAMESPACE_DUPLICATE
    http_status = 500
    retryable = False
    default_message = "Configuration namespace registered twice"


class ConfigNamespaceReservedError(ModuleError):
    """A namespace name belongs to the framework."""

    code = ErrorCodes.CONFIG_NAMESPACE_RESERVED
    http_status = 500
    retryable = False
    default_message = "Configuration namespace is reserved"


class ConfigEnvPrefixConflictError(ModuleError):
    """An environment prefix is taken, or would capture variables of another namespace."""

    code = ErrorCodes.CONFIG_ENV_PREFIX_CONFLICT
    http_status = 500
    retryable = False
    default_message = "Environment prefix conflict"


class ConfigEnvMapConflictError(ModuleError):
    """An environment variable is claimed by another ``env_map``."""

    code = ErrorCodes.CONFIG_ENV_MAP_CONFLICT
    http_status = 500
    retryable = False
    default_message = "Environment variable claimed twice"


class ConfigMountError(ModuleError):
    """A mounted configuration source cannot be used."""

    code = ErrorCodes.CONFIG_MOUNT_ERROR
    http_status = 500
    retryable = False
    default_message = "Configuration cannot be mounted"


class ConfigBindError(ConfigError):
    """The data of a namespace does not fit the type that it is bound to."""

    code = ErrorCodes.CONFIG_BIND_ERROR
    http_status = 500
    retryable = False
    default_message = "Configuration cannot be bound to the type"
