"""Step 5 of the start: the system modules come in (§9.15.1)."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import fields
from typing import Any, Final

from apcore.config import Config
from apcore.errors import ModuleError
from apcore.execution import ExecutorSettings
from apcore.redaction import DEFAULT_SENSITIVE_KEYS
from apcore.system.health import CheckInstallation, HealthModule, HealthSummary
from apcore.system.manifest import ManifestFull, ManifestModule
from apcore.system.overrides import OverridesStore, toggles_in, values_in
from apcore.system.ports import ConfigValues, Controls, KeptOverrides, PlainConfig, StoredControls, SystemApp
from apcore.system.reload_module import ReloadModule
from apcore.system.settings import GROUPS, SysModulesSettings
from apcore.system.toggle_feature import ToggleFeature
from apcore.system.update_config import UpdateConfig
from apcore.system.usage import UsageModule, UsageSummary
from apcore.telemetry.health import HealthThresholds
from apcore.toggles import ToggleState

logger = logging.getLogger("apcore.system")

_SENSITIVE_KEYS: Final = ("observability.redaction.sensitive_keys", "obs.redaction.sensitive_keys")


def register_sys_modules(
    app: SystemApp,
    settings: Any = None,
    *,
    config: ConfigValues | None = None,
    overrides: OverridesStore | None = None,
    controls: Controls | None = None,
    sensitive_keys: Collection[str] | None = None,
    check_installation: CheckInstallation | None = None,
    fixed: Collection[str] = (),
) -> list[str]:
    """Register the system modules that the settings ask for, and take up what `overrides` holds. Returns their IDs.

    An app that nobody configured begins to count its calls and to keep their errors; unless `events` are off, events
    tell of modules above the thresholds.

    `settings` are a `Config`, a mapping like its section `sys_modules`, or SysModulesSettings; without them they are
    those of `config`, by default the app's own configuration. With `enabled` false, which is the default, nothing is
    registered (§6.6.3). In either case the limits of calls follow a `Config` from now on (`executor.default_timeout`).

    `overrides` keep what the control modules change, and toggles and values from there are applied now, whether or not
    anything is registered. `controls` replace how changes take effect; then their changes are measured by executing
    them, so they have to be transactional. `check_installation` looks at what the application runs on. What is below
    names that are `fixed` is read once, and no change of it at run time is accepted, but for the limits of calls.

    Raises ConfigError, and InvalidInputError if they are there already.
    """
    config = _config_of(app) if config is None else config
    found = SysModulesSettings.read(config if settings is None else settings)
    at_once: frozenset[str] = frozenset()
    if isinstance(config, Config):
        app.executor.follow(config)
        at_once = _limits_in(config)
    if overrides is not None:
        apply_overrides(app.toggles, config, overrides)
    if not found.enabled:
        return []
    effect = "transactional" if controls is not None else None
    controls = StoredControls(app.toggles, config, overrides) if controls is None else controls
    keys = _sensitive_keys(config) if sensitive_keys is None else sensitive_keys
    modules = {
        "system.health.summary": HealthSummary(app, found, check_installation),
        "system.health.module": HealthModule(app, found),
        "system.manifest.module": ManifestModule(app),
        "system.manifest.full": ManifestFull(app),
        "system.usage.summary": UsageSummary(app),
        "system.usage.module": UsageModule(app),
        "system.control.update_config": UpdateConfig(app, controls, config, keys, effect, fixed, at_once),
        "system.control.reload_module": ReloadModule(app, controls),
        "system.control.toggle_feature": ToggleFeature(app, controls, effect),
    }
    wanted = {f"system.{group}." for group in GROUPS if getattr(found, group)}
    chosen = {name: each for name, each in modules.items() if name.startswith(tuple(wanted))}
    for module_id, module in chosen.items():
        app.registry.register_internal(module_id, module)
    if found.health or found.usage:
        app.watch_calls(HealthThresholds(found.error_rate, found.latency_p99_ms) if found.events else None)
    return list(chosen)


def apply_overrides(toggles: ToggleState, config: ConfigValues, overrides: OverridesStore) -> None:
    """Put stored toggles and values into force; the configuration keeps to the values when it is reloaded."""
    for module_id, enabled in toggles_in(overrides.load()).items():
        toggles.set(module_id, enabled)
    config.use_overrides(KeptValues(overrides, config))


class KeptValues:
    """The configuration values of a store. One that is not valid any more is logged, and left out."""

    def __init__(self, store: KeptOverrides, config: ConfigValues) -> None:
        self._store = store
        self._config = config

    def load(self) -> dict[str, Any]:
        """The valid ones, by key."""
        return {key: value for key, value in values_in(self._store.load()).items() if self._is_valid(key, value)}

    def _is_valid(self, key: str, value: Any) -> bool:
        try:
            self._config.check(key, value)
        except ModuleError as error:
            logger.error("The stored override of '%s' is not valid and is left out (%s)", key, error.code)
            return False
        return True


def _limits_in(config: Config) -> frozenset[str]:
    """The keys by which a configuration knows the limits of calls, and their section."""
    section = "executor" if config.mode == "legacy" else "apcore.executor"
    return frozenset({section, *(f"{section}.{field.name}" for field in fields(ExecutorSettings))})


def _config_of(app: SystemApp) -> ConfigValues:
    found: ConfigValues | None = getattr(app, "config", None)
    return PlainConfig() if found is None else found


def _sensitive_keys(config: ConfigValues) -> frozenset[str]:
    configured = next((keys for key in _SENSITIVE_KEYS if (keys := config.get(key))), ())
    return DEFAULT_SENSITIVE_KEYS | frozenset(map(str, configured))
