"""The framework's own modules: `system.*` (§6.6, §6.7)."""

from apcore.system.base import is_secret_key
from apcore.system.overrides import TOGGLE_PREFIX, MemoryOverridesStore, OverridesStore, toggle_key
from apcore.system.ports import Author, ConfigValues, Controls, StoredControls, SystemApp
from apcore.system.registration import KeptValues, apply_overrides, register_sys_modules
from apcore.system.settings import SysModulesSettings
from apcore.system.update_config import READ_AT_START

__all__ = [
    "READ_AT_START",
    "TOGGLE_PREFIX",
    "Author",
    "ConfigValues",
    "Controls",
    "KeptValues",
    "MemoryOverridesStore",
    "OverridesStore",
    "StoredControls",
    "SysModulesSettings",
    "SystemApp",
    "apply_overrides",
    "is_secret_key",
    "register_sys_modules",
    "toggle_key",
]
