"""The framework's own modules: `system.*` (§6.6, §6.7)."""

from apcore.system.base import is_secret_key
from apcore.system.classification import SYSTEM_PREFIX, Classification, classify, is_system_module
from apcore.system.overrides import TOGGLE_PREFIX, MemoryOverridesStore, OverridesStore, toggle_key
from apcore.system.ports import Author, ConfigValues, Controls, StoredControls, SystemApp
from apcore.system.registration import KeptValues, apply_overrides, register_sys_modules
from apcore.system.settings import SysModulesSettings

__all__ = [
    "SYSTEM_PREFIX",
    "TOGGLE_PREFIX",
    "Author",
    "Classification",
    "ConfigValues",
    "Controls",
    "KeptValues",
    "MemoryOverridesStore",
    "OverridesStore",
    "StoredControls",
    "SysModulesSettings",
    "SystemApp",
    "apply_overrides",
    "classify",
    "is_secret_key",
    "is_system_module",
    "register_sys_modules",
    "toggle_key",
]
