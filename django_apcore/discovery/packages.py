"""The file `apcore_modules.py` of an app, or its package `apcore_modules/`, whose directories are part of the IDs."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from django.apps import AppConfig

from apcore.discovery import FoundModule, scan_extensions, warn_about_metadata
from apcore.errors import ModuleIdConflictError
from django_apcore.discovery.files import modules_of

FILE_NAME = "apcore_modules"


def modules_of_app(config: AppConfig) -> Iterator[FoundModule]:
    """The modules of one app, file by file; raises what the files raise, with a note that names the file."""
    name = f"{config.name}.{FILE_NAME}"
    if not hasattr(config.module, "__path__") or find_spec(name) is None:
        return
    top = _imported(name)
    roots = [Path(root) for root in getattr(top, "__path__", ())]
    for segments in sorted({(), *(place for root in roots for place in _places_in(root))}):
        python = _imported(".".join((name, *segments)))
        is_directory = not segments or hasattr(python, "__path__")
        yield from modules_of(python, (config.label, *segments), is_directory=is_directory)


def _places_in(root: Path) -> Iterator[tuple[str, ...]]:
    """The files and packages below a directory that may hold modules, as segments of IDs (§2.1, §3.5)."""
    _refuse_hidden_file(root)
    warn_about_metadata(root)
    for file, module_id in scan_extensions(root):
        _refuse_hidden_file(Path(file).with_suffix(""))
        yield tuple(module_id.split("."))
    for start in root.rglob("__init__.py"):
        segments = start.parent.relative_to(root).parts
        if not any(each.startswith(("_", ".")) for each in segments):
            yield segments


def _refuse_hidden_file(directory: Path) -> None:
    """Of `orders.py` and `orders/` Python imports only the directory: the modules of the file would be lost."""
    file = directory.with_name(f"{directory.name}.py")
    if directory.is_dir() and file.is_file():
        raise ModuleIdConflictError(
            f"'{file}' is hidden by the directory of the same name",
            details={"file": str(file), "directory": str(directory)},
            suggestion=f"Move its content into '{directory.name}/__init__.py'",
        )


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except Exception as error:
        spec = find_spec(name)
        error.add_note(f"While loading the apcore modules of {spec.origin if spec else name}")
        raise
