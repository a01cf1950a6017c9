"""Plain functions of an app as modules (§5.14)."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from django.apps import AppConfig

from apcore.discovery import FoundModule, Place, python_name, scan_conventions
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
    package = _package_of(config, Path(settings.conventions_dir))
    return [
        _below_its_app(found, config.label, python_name(found.file, directory, package=package))
        for found in scan_conventions(directory, package=package)
    ]


def _package_of(config: AppConfig, directory: Path) -> str | None:
    """The name of the directory as a package of its app, so that its files reach the app; None where it has none."""
    is_inside = hasattr(config.module, "__path__") and all(part.isidentifier() for part in directory.parts)
    return ".".join((config.name, *directory.parts)) if is_inside else None


def _below_its_app(found: FoundModule, label: str, python: str) -> FoundModule:
    if found.place is None or hasattr(sys.modules[python], "MODULE_PREFIX"):
        return found
    return replace(found, module_id=f"{label}.{found.module_id}", place=AppCommandPlace(label, python, found.place))


@dataclass(frozen=True, slots=True)
class AppCommandPlace:
    """Where a function of an app is, whose ID the label of the app comes before."""

    label: str
    python: str
    place: Place

    def find_again(self, module_id: str) -> FoundModule:
        """As `Place.find_again`."""
        return _below_its_app(self.place.find_again(module_id.removeprefix(f"{self.label}.")), self.label, self.python)
