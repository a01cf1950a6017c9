"""Definitions that are refused: every mistake has its message, its hint and its file."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.apps import AppConfig, apps
from django.core.checks import CheckMessage
from django.test import override_settings

from django_apcore import checks
from django_apcore.checks import refusals

CLASS = """
class {name}:
    description = "A class module."
    input_schema = {{"type": "object"}}
    output_schema = {{"type": "object"}}
    {attribute}

    def execute(self, inputs, context):
        return {{}}
"""
FUNCTION = """
from apcore import module

@module()
def count(order):
    '''Count.'''
"""
SCHEMA_FILE = "schemas/shop.count.schema.yaml"
DISPLAY = "bindings: [{module_id: shop.count, display: {mcp: {alias: 'no tool'}}}]"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, str]], list[CheckMessage]]]:
    """Install an app `shop` with these files, and return what is refused."""
    monkeypatch.syspath_prepend(tmp_path)

    def refused(files: dict[str, str]) -> list[CheckMessage]:
        for path, text in {"__init__.py": "", **files}.items():
            file = tmp_path / "shop" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        __import__("shop")
        monkeypatch.setitem(apps.app_configs, "shop", AppConfig("shop", sys.modules["shop"]))
        return refusals()

    yield refused
    for name in [each for each in sys.modules if each.partition(".")[0] == "shop"]:
        del sys.modules[name]


def modules(*attributes: str) -> dict[str, str]:
    names = ("Count", "Ship", "Pack")
    return {
        "apcore_modules.py": "".join(
            CLASS.format(name=name, attribute=each) for name, each in zip(names, attributes, strict=False)
        )
    }


def binding(target: str) -> dict[str, str]:
    return {
        "services.py": "number = 1\n\ndef untyped(a):\n    return a\n",
        "bindings/a.binding.yaml": f"bindings: [{{module_id: shop.bound, target_id: '{target}'}}]",
    }


MISTAKES = [
    ("E008", modules("module_id = 'Not an ID'"), "Not an ID"),
    ("E008", modules("module_id = 'shop.same'", "module_id = 'shop.same'"), "exists already"),
    ("E008", modules("module_id = 'system.mine'"), "reserved word 'system'"),
    ("E008", {"apcore_modules.py": "", "apcore_modules/__init__.py": ""}, "hidden by the directory"),
    ("E009", modules("input_schema = {'type': 'number of things'}"), "shop.count"),
    (
        "E009",
        {**modules(""), SCHEMA_FILE: "input_schema: {type: numbers}"},
        "shop.count.schema.yaml",
    ),
    ("E009", {**modules(""), SCHEMA_FILE: "input_schema: {$ref: '#/input_schema'}"}, "circle"),
    ("E010", {"apcore_modules.py": FUNCTION}, "order"),
    ("E011", binding("shop.services"), "not of the form"),
    ("E011", binding("shop.nothing:count"), "ModuleNotFoundError"),
    ("E011", binding("shop.services:nothing"), "has no 'nothing'"),
    ("E011", binding("shop.services:number"), "not callable"),
    ("E011", binding("shop.services:untyped"), "too little for a schema"),
    ("E011", {"bindings/a.binding.yaml": "bindings: 7"}, "a.binding.yaml"),
    ("E012", modules("dependencies = ['shop.gone']"), "'shop.gone', which does not exist"),
    ("E012", modules("dependencies = [{'module_id': 'shop.ship', 'version': '^2.0.0'}]", ""), "there is 1.0.0"),
    ("E012", modules("dependencies = ['shop.ship']", "dependencies = ['shop.count']"), "Circular"),
    ("E013", {**modules(""), "bindings/a.binding.yaml": DISPLAY}, "no tool"),
    ("E015", modules("description = ''"), "description"),
    ("E015", modules("output_schema = None"), "output_schema"),
    ("E015", modules("effect = 'magic'"), "effect"),
    ("E015", modules("version = 'draft'"), "'draft' is not a version"),
    ("E015", modules("annotations = {'readonly': 'yes'}"), "'readonly' is bool"),
    ("E015", modules("annotations = {'extra': {1: 2}}"), "'extra' is str"),
    ("E015", modules("examples = [{'inputs': {}}]"), "an example has title and inputs"),
    ("E015", modules("dependencies = [{'module_id': 'shop.ship', 'version': 'new'}]", ""), "'shop.ship': 'new' is not"),
    ("E015", {**modules(""), "apcore_modules_meta.yaml": "tags: 7"}, "apcore_modules_meta.yaml"),
]


@pytest.mark.req(
    "R-5.12.3-01", "R-5.12.3-02", "R-5.12.3-04", "R-5.12.3-05", "R-5.12.5-02", "R-5.12.7-01", "R-5.12.7-02",
    "R-5.12.7-04", "R-5.13.6-01", "R-5.15.2-01", "R-5.15.2-05", "R-5.15.2-07",
)  # fmt: skip
@pytest.mark.parametrize(("number", "files", "words"), MISTAKES, ids=[f"{each[0]} {each[2]}" for each in MISTAKES])
def test_every_mistake_has_its_message(
    shop: Callable[[dict[str, str]], list[CheckMessage]], number: str, files: dict[str, str], words: str
) -> None:
    [message] = shop(files)
    assert message.id == f"django_apcore.{number}"
    assert words in str(message)
    assert message.hint


def test_all_mistakes_are_told_at_once_with_their_files(
    shop: Callable[[dict[str, str]], list[CheckMessage]],
) -> None:
    files = modules("description = ''", "input_schema = {'type': 'no'}", "dependencies = ['shop.gone']")
    messages = shop({**files, **binding("shop.services:number")})
    assert [message.id for message in messages] == [f"django_apcore.{each}" for each in ("E011", "E015", "E009")]
    assert "bindings/a.binding.yaml" in str(messages[0])
    assert all("shop/apcore_modules.py" in str(message) for message in messages[1:])


def test_both_files_of_one_id_are_named(shop: Callable[[dict[str, str]], list[CheckMessage]]) -> None:
    text = modules("module_id = 'shop.same'")["apcore_modules.py"]
    [message] = shop({"apcore_modules/__init__.py": "", "apcore_modules/one.py": text, "apcore_modules/two.py": text})
    assert "one.py and in " in str(message)
    assert "two.py" in str(message)


def test_what_a_schema_file_adds_is_not_missed(shop: Callable[[dict[str, str]], list[CheckMessage]]) -> None:
    files = modules("input_schema = output_schema = None", "effect = 'magic'")
    schema = "{input_schema: {type: object}, output_schema: {type: object}}"

    [message] = shop({**files, SCHEMA_FILE: schema})

    assert message.obj == "shop.ship"


def test_a_reason_is_told_once(shop: Callable[[dict[str, str]], list[CheckMessage]]) -> None:
    [message] = shop(modules("effect = 'magic'"))

    assert str(message.msg).count("not 'magic'") == 1


def test_a_right_definition_is_not_refused(shop: Callable[[dict[str, str]], list[CheckMessage]]) -> None:
    assert shop(modules("", "dependencies = ['shop.count']")) == []


def test_a_file_that_cannot_be_imported_shows_its_traceback(
    shop: Callable[[dict[str, str]], list[CheckMessage]],
) -> None:
    with pytest.raises(ZeroDivisionError) as broken:
        shop({"apcore_modules.py": "1 / 0"})
    assert "apcore_modules.py" in broken.value.__notes__[0]


def test_what_was_admitted_at_the_start_is_not_read_again(
    shop: Callable[[dict[str, str]], list[CheckMessage]],
) -> None:
    assert len(shop(modules("description = ''"))) == 1
    with override_settings(APCORE={"AUTO_REGISTER_MODULES": False}):
        assert [each.id for each in checks.check_admission(None)] == ["django_apcore.E015"]


def test_conventions_are_enabled_for_apps_that_are_there(
    shop: Callable[[dict[str, str]], list[CheckMessage]],
) -> None:
    with override_settings(APCORE={"CONVENTION_APPS": ["shop", "nothing"], "AUTO_REGISTER_MODULES": False}):
        shop({})
        unknown, without_directory = checks.check_admission(None)
    assert (unknown.id, without_directory.id) == ("django_apcore.E014", "django_apcore.E014")
    assert "'nothing'" in unknown.msg
    assert "shop/commands" in without_directory.msg
