"""The files of a new module: the module, its test, and what makes packages of their directories."""

import keyword
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from string import Template

from django.apps import AppConfig, apps
from django.core.management.base import CommandError

from apcore.ids import pascal_case, refuse_conflicts, validate_canonical_id

_MODULE = Template('''\
"""$module_id"""

from typing import Annotated

from pydantic import BaseModel, Field

from apcore import module


class $result(BaseModel):
    """What callers get."""

    name: str = Field(description="The name that was given")


# What a transactional module does is written in this project's databases, and so a preview of it can be measured.
# Add annotations=ModuleAnnotations(requires_approval=True) if somebody has to sign each call.
@module(
    id="$module_id",
    effect="transactional",
    examples=[{"title": "A first call", "inputs": {"name": "first"}, "output": {"name": "first"}}],
)
def $function(name: Annotated[str, Field(min_length=1, description="What this is about")]) -> $result:
    """Say here in one line what $module_id does."""
    return $result(name=name)
''')

_TEST = Template('''\
"""$module_id"""

from django.test import TestCase

from apcore.errors import SchemaValidationError
from django_apcore.testing import allow_all, override_runtime


class $test_case(TestCase):
    databases = "__all__"  # a transactional module is run inside a transaction on each of them

    def test_it_is_called(self):
        with override_runtime(acl=allow_all()) as runtime:
            result = runtime.executor.call("$module_id", {"name": "first"})
        self.assertEqual(result, {"name": "first"})

    def test_its_effect_is_measured(self):
        with override_runtime(acl=allow_all()) as runtime:
            preview = runtime.executor.validate("$module_id", {"name": "first"})
        self.assertTrue(preview.valid)
        self.assertTrue(preview.effect.complete)
        self.assertEqual(preview.effect.counts, {})

    def test_other_inputs_are_refused(self):
        with override_runtime(acl=allow_all()) as runtime, self.assertRaises(SchemaValidationError):
            runtime.executor.call("$module_id", {"name": ""})
''')


@dataclass(frozen=True, slots=True)
class Scaffold:
    """What is to be written: the module, its test, and `__init__.py` files that do not exist yet."""

    module: Path
    test: Path
    texts: dict[Path, str]

    def write(self) -> None:
        """Write all files, or none if one of them exists. Raises CommandError."""
        existing = [path for path in (self.module, self.test) if path.exists()]
        if existing:
            raise CommandError(f"{existing[0]} exists already; nothing was written.")
        for path, text in self.texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)


def plan_module(module_id: str, existing_ids: Iterable[str]) -> Scaffold:
    """The files for a module of this ID, below the app that is its first segment.

    Raises InvalidModuleIdError, InvalidInputError for an ID that is taken, and CommandError where there is no place.
    """
    validate_canonical_id(module_id)
    refuse_conflicts(module_id, set(existing_ids))
    label, *place = module_id.split(".")
    if not place:
        raise CommandError(f"{module_id!r} names an app and no module in it, as '{module_id}.verb' would.")
    app = Path(_app(label).path)
    top = app / "apcore_modules"
    module = _module_file(top, place)
    packages = [directory for directory in module.parents if directory.is_relative_to(top)]
    tests = app / "tests"
    if tests.with_suffix(".py").exists():
        tests = app  # beside tests.py; a package of that name would hide it
    else:
        packages.append(tests)
    test = tests / f"test_{'_'.join(place)}.py"
    starts = {directory / "__init__.py": "" for directory in packages if not (directory / "__init__.py").exists()}
    return Scaffold(module, test, {**starts, **_texts(module_id, module, test)})


def _app(label: str) -> AppConfig:
    """The app of the project. Raises CommandError for none, and for one that was installed from elsewhere."""
    labels = sorted(config.label for config in apps.get_app_configs() if _is_of_project(config))
    if label not in labels:
        raise CommandError(f"There is no app {label!r} in this project; its apps are {', '.join(labels)}.")
    return apps.get_app_config(label)


def _is_of_project(config: AppConfig) -> bool:
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(Path(config.path).parts)
    return not is_installed and config.name != "django_apcore"  # which may be installed for editing


def _module_file(top: Path, place: list[str]) -> Path:
    """`orders/cancel.py` below the package of modules, or `orders_cancel.py` where `orders.py` is in the way: of a file
    and a directory of one name Python imports only the directory. Raises CommandError where neither can be.
    """
    if top.with_suffix(".py").exists():
        raise CommandError(
            f"{top.with_suffix('.py')} would be hidden by a directory {top.name}/. Write the module into that file, "
            f"or move the file to {top.name}/__init__.py first."
        )
    directory = top
    for position, name in enumerate(place[:-1]):
        if (directory / f"{name}.py").exists():
            return directory / f"{'_'.join(place[position:])}.py"
        directory /= name
    if (directory / place[-1]).is_dir():
        raise CommandError(f"{directory / place[-1]} is a directory, which would hide a file of that name.")
    return directory / f"{place[-1]}.py"


def _texts(module_id: str, module: Path, test: Path) -> dict[Path, str]:
    _, *place = module_id.split(".")
    function = f"{place[-1]}_" if keyword.iskeyword(place[-1]) else place[-1]
    names = {
        "module_id": module_id,
        "function": function,
        "result": f"{pascal_case(place[-1])}Result",
        "test_case": f"{pascal_case('_'.join(place))}Tests",
    }
    return {module: _MODULE.substitute(names), test: _TEST.substitute(names)}
