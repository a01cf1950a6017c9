"""What is edited in an app while a process runs, and taken up there by a reload (§12.7.3, §6.7)."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from django.apps import AppConfig
from django.test import override_settings

from apcore import Executor, Registry
from apcore.errors import ModuleLoadError, ReloadFailedError
from django_apcore.discovery import register_modules
from tests.django_apcore.discovery.test_discovery import app

__all__ = ["app"]

FUNCTION = """
from apcore import module

@module()
def price(track: int) -> int:
    '''What a track costs.'''
    return {value}
"""
COMMAND = """
from ..prices import PRICE

def price(track: int) -> int:
    '''What a track costs.'''
    return PRICE + {value}
"""
CLASS = """
class Price:
    description = "What a track costs."
    input_schema = {{"type": "object"}}
    output_schema = {{"type": "object"}}

    def execute(self, inputs, context):
        return {{"result": {value}}}
"""


def registered(config: AppConfig) -> Registry:
    registry = Registry()
    register_modules(registry, [config])
    return registry


def price(registry: Registry, module_id: str) -> object:
    inputs = {} if registry.get_definition(module_id).input_schema == {"type": "object"} else {"track": 1}
    return Executor(registry).call(module_id, inputs)["result"]


@pytest.mark.parametrize(
    ("file", "text", "module_id"),
    [
        ("apcore_modules.py", FUNCTION, "shop.price"),
        ("apcore_modules/__init__.py", FUNCTION, "shop.price"),
        ("apcore_modules/tracks.py", CLASS, "shop.tracks"),
        ("apcore_modules/old/__init__.py", FUNCTION, "shop.old.price"),
        ("commands/tracks.py", COMMAND, "shop.tracks.price"),
    ],
)
@override_settings(APCORE={"CONVENTION_APPS": ["shop"]})
def test_an_edited_file_of_an_app_is_taken_up(
    app: Callable[..., AppConfig], file: str, text: str, module_id: str
) -> None:
    config = app({"commands/other.py": "", "prices.py": "PRICE = 0\n", file: text.format(value=1)})
    registry = registered(config)
    assert price(registry, module_id) == 1
    Path(config.path, file).write_text(text.format(value=2))
    assert price(registry, module_id) == 1
    registry.reload(module_id)
    assert price(registry, module_id) == 2
    Path(config.path, file).write_text(text.format(value=3))
    registry.reload(module_id)
    assert price(registry, module_id) == 3


@pytest.mark.parametrize("edited", ["raise RuntimeError('broken')", "def price(", "VALUE = 1"])
def test_a_file_that_broke_leaves_the_old_version_in_place(app: Callable[..., AppConfig], edited: str) -> None:
    config = app({"apcore_modules.py": FUNCTION.format(value=1)})
    registry = registered(config)
    python = sys.modules["shop.apcore_modules"]
    Path(config.path, "apcore_modules.py").write_text(edited)
    with pytest.raises(ReloadFailedError, match=r"shop\.price"):
        registry.reload("shop.price")
    assert price(registry, "shop.price") == 1
    assert sys.modules["shop.apcore_modules"] is python


def test_the_files_of_a_package_stay_in_the_one_that_comes_in_its_place(app: Callable[..., AppConfig]) -> None:
    files = {"apcore_modules/__init__.py": FUNCTION.format(value=1), "apcore_modules/tracks.py": CLASS.format(value=5)}
    registry = registered(app(files))
    tracks = sys.modules["shop.apcore_modules.tracks"]
    registry.reload("shop.price")
    assert sys.modules["shop.apcore_modules"].tracks is tracks
    assert price(registry, "shop.tracks") == 5


def test_the_class_that_a_metadata_file_names_is_taken_up(app: Callable[..., AppConfig]) -> None:
    files = {
        "apcore_modules/tracks.py": "",
        "apcore_modules/tracks_meta.yaml": "entry_point: _prices:Price",
        "apcore_modules/_prices.py": CLASS.format(value=1),
    }
    config = app(files)
    registry = registered(config)
    Path(config.path, "apcore_modules/_prices.py").write_text(CLASS.format(value=2))
    registry.reload("shop.tracks")
    assert price(registry, "shop.tracks") == 2


@override_settings(APCORE={"CONVENTION_APPS": ["shop"]})
def test_a_command_that_is_gone_is_told_by_its_file(app: Callable[..., AppConfig]) -> None:
    config = app({"prices.py": "PRICE = 0", "commands/tracks.py": COMMAND.format(value=1)})
    registry = registered(config)
    Path(config.path, "commands/tracks.py").write_text("")
    with pytest.raises(ReloadFailedError, match=r"tracks\.py"):
        registry.reload("shop.tracks.price")
    assert price(registry, "shop.tracks.price") == 1


@override_settings(APCORE={"CONVENTION_APPS": ["shop"]})
def test_a_command_that_reaches_for_nothing_is_named(app: Callable[..., AppConfig]) -> None:
    config = app({"commands/tracks.py": COMMAND.format(value=1)})
    with pytest.raises(ModuleLoadError, match=r"tracks\.py"):
        registered(config)


def test_a_bound_function_of_an_app_is_taken_up(app: Callable[..., AppConfig]) -> None:
    text, binding = "def price(track: int) -> int:\n    return {value}\n", "bindings/shop.binding.yaml"
    item = "bindings: [{{module_id: shop.price, target_id: 'shop.prices:price', description: {words}}}]"
    config = app({"prices.py": text.format(value=1), binding: item.format(words="What it costs")})
    registry = registered(config)
    Path(config.path, "prices.py").write_text(text.format(value=2))
    Path(config.path, binding).write_text(item.format(words="What it costs today"))
    assert registry.reload("shop.price").description == "What it costs today"
    assert price(registry, "shop.price") == 2
    Path(config.path, "prices.py").unlink()
    with pytest.raises(ReloadFailedError, match=r"prices\.py"):
        registry.reload("shop.price")
    assert price(registry, "shop.price") == 2


def test_a_target_beside_models_is_not_imported_a_second_time(app: Callable[..., AppConfig]) -> None:
    item = """
        bindings:
          - module_id: shop.anonymise
            target_id: project.store.models.people:Customer.anonymise
            input_schema: {type: object}
            output_schema: {type: object}
            description: Forget a customer
    """
    registry = registered(app({"bindings/shop.binding.yaml": dedent(item)}))
    models = sys.modules["project.store.models.people"]
    with pytest.raises(ReloadFailedError, match=r"defines models.*Customer.*second time"):
        registry.reload("shop.anonymise")
    assert sys.modules["project.store.models.people"] is models
    assert registry.has("shop.anonymise")


def test_a_running_process_takes_up_what_was_edited(tmp_path: Path) -> None:
    """`system.control.reload_module` in a process of its own that has the app installed."""
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "apcore_modules.py").write_text(FUNCTION.format(value=1))
    program = f"""
        import os, sys, django
        from pathlib import Path
        sys.path.insert(0, {str(tmp_path)!r})
        os.environ["DJANGO_SETTINGS_MODULE"] = "project.settings"
        from django.conf import settings
        from apcore import Context
        settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "shop"]
        settings.APCORE = {{**settings.APCORE, "SYS_MODULES": {{"enabled": True}}}}
        settings.DATABASES = {{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}}}
        django.setup()
        from django_apcore import runtime
        registry = runtime.get().app.registry
        ask = lambda: registry.get("shop.price").function(track=1)
        before = ask()
        Path({str(package / "apcore_modules.py")!r}).write_text({FUNCTION.format(value=2)!r})
        registry.get("system.control.reload_module").execute(
            {{"module_id": "shop.price", "reason": "edited"}}, Context.create()
        )
        print(before, ask())
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.split()[-2:] == ["1", "2"], done.stderr
