"""Plain functions of an app as modules (§5.14)."""

import sys
from dataclasses import replace
from pathlib import Path

from django.apps import AppConfig

from apcore.discovery import FoundModule, python_name, scan_conventions
from django_apcore.conf import get_settings


def commands_of_app(config: AppConfig) -> list[FoundModule]:
    """The functions in the directory `commands/` of an app that the settings name: `{label}.{path}.{function}`.

    The label keeps the functions of several apps apart; a file that sets `MODULE_PREFIX` says the whole prefix itself.
    Raises as `scan_conventions`, and ConfigError for an app that has no such directory.
    """
    settings = get_settings()
    if config.label not in settings.convention_apps:
        return []
    directory = Path(config.path, settings.conventions_dir)
    return [_below_its_app(found, config, directory) for found in scan_conventions(directory)]


def _below_its_app(found: FoundModule, config: AppConfig, directory: Path) -> FoundModule:
    if hasattr(sys.modules[python_name(found.file, directory)], "MODULE_PREFIX"):
        return found
    return replace(found, module_id=f"{config.label}.{found.module_id}")
