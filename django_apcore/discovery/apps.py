"""The modules of the installed apps, found in `apcore_modules.py` or a package `apcore_modules/` of each app.

Functions of an app can also be bound without a change of its code, in `bindings/*.binding.yaml` (§5.12).
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from django.apps import AppConfig, apps

from apcore.discovery import BindingFile, FoundModule, binding_files_in, bound_modules, read_binding_file
from apcore.registry import Registry
from django_apcore.discovery.files import modules_of

FILE_NAME = "apcore_modules"
BINDINGS = "bindings"


def find_modules(app_configs: Iterable[AppConfig] | None = None) -> list[FoundModule]:
    """Import the module files of all installed apps and return what they define, app by app and file by file.

    An app without such a file is fine. Whatever a file raises is raised, with a note that names the file.
    """
    return [found for config in _configs(app_configs) for found in _modules_of_app(config)]


def find_bindings(app_configs: Iterable[AppConfig] | None = None) -> list[BindingFile]:
    """Read the binding files of all installed apps. Raises BindingFileInvalidError and InvalidModuleIdError."""
    directories = [Path(config.path, BINDINGS) for config in _configs(app_configs)]
    files = [file for directory in directories if directory.is_dir() for file in binding_files_in(directory)]
    return [read_binding_file(file) for file in files]


def register_modules(registry: Registry, app_configs: Iterable[AppConfig] | None = None) -> list[FoundModule]:
    """Admit the modules of all installed apps, each after those it depends on; all of them or none.

    Raises what `Registry.register_found` and the binding files raise, with a note naming the file.
    """
    configs = _configs(app_configs)
    files = find_bindings(configs)
    found = [*find_modules(configs), *(each for file in files for each in bound_modules(file))]
    registry.register_found(found, {module_id: item for file in files for module_id, item in file.displayed.items()})
    return found


def _configs(app_configs: Iterable[AppConfig] | None) -> list[AppConfig]:
    return list(apps.get_app_configs() if app_configs is None else app_configs)


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
