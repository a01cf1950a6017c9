"""The modules of the installed apps, found in `apcore_modules.py` or a package `apcore_modules/` of each app."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType

from django.apps import AppConfig, apps

from apcore.registry import Registry
from django_apcore.discovery.files import FoundModule, modules_of

FILE_NAME = "apcore_modules"


def find_modules(app_configs: Iterable[AppConfig] | None = None) -> list[FoundModule]:
    """Import the module files of all installed apps and return what they define, app by app and file by file.

    An app without such a file is fine. Whatever a file raises is raised, with a note that names the file.
    """
    configs = apps.get_app_configs() if app_configs is None else app_configs
    return [found for config in configs for found in _modules_of_app(config)]


def register_modules(registry: Registry, app_configs: Iterable[AppConfig] | None = None) -> list[FoundModule]:
    """Admit the modules of all installed apps. Raises what `Registry.register` raises, with a note naming the file."""
    modules = find_modules(app_configs)
    for found in modules:
        try:
            registry.register(found.module_id, found.module)
        except Exception as error:
            error.add_note(f"While registering {found.module_id} of {found.file}")
            raise
    return modules


def _modules_of_app(config: AppConfig) -> Iterator[FoundModule]:
    name = f"{config.name}.{FILE_NAME}"
    if find_spec(name) is not None:
        yield from _modules_below(name, (config.label,))


def _modules_below(name: str, path: tuple[str, ...]) -> Iterator[FoundModule]:
    """What a file or package defines; below a package each name is one more segment of the ID (§2.1)."""
    module = _imported(name)
    is_package = hasattr(module, "__path__")
    yield from modules_of(module, path, is_directory=is_package or len(path) == 1)
    for below in _public_names(module):
        yield from _modules_below(f"{name}.{below}", (*path, below))


def _public_names(package: ModuleType) -> list[str]:
    """The files and directories of a package that may hold modules, in alphabetical order (§3.5)."""
    return sorted(info.name for info in iter_modules(getattr(package, "__path__", ())) if not info.name.startswith("_"))


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except Exception as error:
        spec = find_spec(name)
        error.add_note(f"While loading the apcore modules of {spec.origin if spec else name}")
        raise
