"""Which modules the installed apps bring, by the rules of the core.

An app has its modules in `apcore_modules.py` or in a package `apcore_modules/`, and their schemas in code or in files
of its directory `schemas/` (§4.9). Functions can also be bound without a
change of their code, in `bindings/*.binding.yaml` (§5.12), and those of a directory `commands/` can be taken as they
are, where the settings say so (§5.14).
"""

from collections.abc import Iterable

from django.apps import AppConfig, apps

from apcore.discovery import FoundModule
from apcore.registry import Registry
from django_apcore.discovery.bindings import bound_modules_of, displays_of, find_bindings
from django_apcore.discovery.commands import commands_of_app
from django_apcore.discovery.packages import modules_of_app
from django_apcore.discovery.schemas import with_schemas


def find_modules(app_configs: Iterable[AppConfig] | None = None) -> list[FoundModule]:
    """Import the module files of all installed apps and return what they define, app by app and file by file.

    An app without such a file is fine. Whatever a file raises is raised, with a note that names the file.
    """
    return [with_schemas(config, each) for config in _configs(app_configs) for each in modules_of_app(config)]


def find_commands(app_configs: Iterable[AppConfig] | None = None) -> list[FoundModule]:
    """The functions of the apps in `APCORE["CONVENTION_APPS"]`. Raises as `scan_conventions`."""
    return [with_schemas(config, each) for config in _configs(app_configs) for each in commands_of_app(config)]


def register_modules(registry: Registry, app_configs: Iterable[AppConfig] | None = None) -> list[FoundModule]:
    """Admit the modules of all installed apps, each after those it depends on; all of them or none.

    Raises what `Registry.register_found` and the files raise, with a note naming the file.
    """
    configs = _configs(app_configs)
    files = find_bindings(configs)
    found = [*find_modules(configs), *find_commands(configs), *bound_modules_of(files)]
    registry.register_found(found, displays_of(files))
    return found


def _configs(app_configs: Iterable[AppConfig] | None) -> list[AppConfig]:
    return list(apps.get_app_configs() if app_configs is None else app_configs)
