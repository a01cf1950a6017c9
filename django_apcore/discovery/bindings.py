"""The binding files of apps, and those of the project (§5.12.6)."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.db.models.base import ModelBase

from apcore.discovery import BindingFile, FoundModule, Place, binding_files_in, bound_modules, read_binding_file
from apcore.errors import ModuleLoadError
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
    return [_in_project(file.file, found) for file in files for found in bound_modules(file)]


def displays_of(files: Iterable[BindingFile]) -> dict[str, Mapping[str, Any]]:
    """How modules are presented, by ID. The last one to speak is heard: the project, after its apps."""
    return {module_id: item for file in files for module_id, item in file.displayed.items()}


@dataclass(frozen=True, slots=True)
class AppBindingPlace:
    """A binding file of a Django project, where functions may stand beside models."""

    file: Path
    place: Place

    def find_again(self, module_id: str) -> FoundModule:
        """As `Place.find_again`. Raises ModuleLoadError for a target beside models, which Django takes up once only."""
        for item in read_binding_file(self.file).bound:
            if item["module_id"] == module_id:
                _refuse_models(module_id, item["target_id"].partition(":")[0])
        return _in_project(self.file, self.place.find_again(module_id))


def _in_project(file: Path, found: FoundModule) -> FoundModule:
    return found if found.place is None else replace(found, place=AppBindingPlace(file, found.place))


def _refuse_models(module_id: str, python_name: str) -> None:
    models = sorted(_models_in(python_name))
    if models:
        raise ModuleLoadError(
            f"'{python_name}' defines models ({', '.join(models)}), which cannot be imported a second time",
            module_id=module_id,
            details={"python_module": python_name, "models": models},
            suggestion="Restart to take up what was edited, or move the function to a file without models",
        )


def _models_in(python_name: str) -> Iterator[str]:
    for name, value in vars(sys.modules[python_name]).items() if python_name in sys.modules else ():
        if isinstance(value, ModelBase) and value.__module__ == python_name:
            yield name
