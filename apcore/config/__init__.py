"""The Config Bus: namespaces, environment, defaults (§9)."""

from apcore.config.bus import Config
from apcore.config.documents import core_schema
from apcore.config.environment import (
    apply_namespace_env_overrides,
    auto_resolve,
    coerce_env_value,
    dispatch_env_var,
)
from apcore.config.files import discover_config_file
from apcore.config.layers import Source, detect_config_mode
from apcore.config.namespaces import REGISTRY, Namespace
from apcore.config.paths import resolve_namespace_path
from apcore.config.validation import validate_config, validate_config_ns

__all__ = [
    "REGISTRY",
    "Config",
    "Namespace",
    "Source",
    "apply_namespace_env_overrides",
    "auto_resolve",
    "coerce_env_value",
    "core_schema",
    "detect_config_mode",
    "discover_config_file",
    "dispatch_env_var",
    "resolve_namespace_path",
    "validate_config",
    "validate_config_ns",
]
