"""The binding files of apps, and those of the project (§5.12.6)."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.apps import AppConfig

from apcore.discovery import BindingFile, FoundModule, binding_files_in, bound_modules, read_binding_file
from django_apcore.conf import get_settings


def find_bindings(app_configs: Iterable[AppConfig]) -> list[BindingFile]:
    """Read the binding files of these apps, and after them those that the settings name.

    Raises BindingFileInvalidError and InvalidModuleIdError.
    """
    settings = get_settings()
    directories = [Path(config.path, settings.bindings_dir) for config in app_configs]
    present = [directory for directory in directories if directory.is_dir()]
    files = [file for directory in present for file in binding_files_in(directory, settings.bindings_pattern)]
    named = [Path(file) for file in settings.binding_files]
    return [read_binding_file(file) for file in dict.fromkeys([*files, *named])]


def bound_modules_of(files: Iterable[BindingFile]) -> list[FoundModule]:
    """The modules that the files make; raises as `BindingLoader.load_bindings`, naming the file."""
    return [found for file in files for found in bound_modules(file)]


def displays_of(files: Iterable[BindingFile]) -> dict[str, Mapping[str, Any]]:
    """How modules are presented, by ID. The last one to speak is heard: the project, after its apps."""
    return {module_id: item for file in files for module_id, item in file.displayed.items()}
