"""`manage.py apcore list`, `describe` and `export`."""

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from apcore import Module, ModuleAnnotations, Registry, module
from apcore.discovery import FoundModule
from django_apcore import runtime
from django_apcore.testing import allow_all

pytestmark = pytest.mark.django_db(databases=["default", "other"])


@module(
    id="shop.orders.cancel",
    tags=["orders"],
    examples=[{"title": "The usual", "inputs": {"order": 7}}],
    annotations=ModuleAnnotations(requires_approval=True, destructive=True),
)
def cancel(order: int, reason: str | None = None) -> dict[str, bool]:
    """Cancel an order."""
    return {"cancelled": order > 0}


@module(id="shop.orders.secret", annotations=ModuleAnnotations(discoverable=False))
def secret() -> bool:
    """A module that no list shows."""
    return True


@module(id="shop.orders_cancel")
def twin() -> bool:
    """A module whose name as a tool is that of another one."""
    return True


class Odd(Module):
    """Schemas that people write by hand."""

    description = "A module [bold]with[/bold] odd schemas."
    input_schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["a", 1]},
            "size": {"type": ["integer", "null"]},
            "item": {"$ref": "#/$defs/Item"},
            "free": True,
        },
        "$defs": {"Item": {"type": "object"}},
    }
    output_schema = {"type": "object"}

    def execute(self, inputs: Any, context: Any) -> dict[str, Any]:
        return {}


DISPLAYS = {
    "shop.orders.cancel": {"display": {"cli": {"alias": "cancel", "description": "Undo an order.", "group": "orders"}}},
    "shop.orders.secret": {"display": {"alias": "same"}},
    "shop.odd": {"display": {"alias": "same", "guidance": "Ask first."}},
}


@pytest.fixture(autouse=True)
def shop(db: None) -> Iterator[Registry]:
    registry = Registry()
    found = [FoundModule(each.id, each, "here") for each in (cancel, secret)]
    registry.register_found([*found, FoundModule("shop.odd", Odd, "here")], DISPLAYS)
    before = runtime.replace(runtime.build(registry=registry, acl=allow_all()))
    yield registry
    runtime.replace(before)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*words: str, out: io.StringIO | None = None) -> str:
    stream = io.StringIO() if out is None else out
    call_command("apcore", *words, stdout=stream, skip_checks=True)
    return stream.getvalue()


def data(*words: str) -> Any:
    return json.loads(run(*words, "--json"))


def listed(*words: str) -> list[str]:
    return [each["module_id"] for each in data("list", *words)]


def test_the_list_can_be_narrowed_and_widened() -> None:
    assert listed() == ["shop.odd", "shop.orders.cancel"]
    assert listed("--all") == ["shop.odd", "shop.orders.cancel", "shop.orders.secret"]
    assert listed("shop.orders") == ["shop.orders.cancel"]
    assert listed("--tag", "orders", "--tag", "other") == []
    assert run("list", "nothing") == "(none)\n"


@pytest.mark.req("R-5.13.8-02", "R-5.13.8-03", "R-5.13.8-04", "R-5.14.5-03")
def test_modules_are_shown_as_their_display_says() -> None:
    [shown] = data("list", "shop.orders")
    assert (shown["alias"], shown["group"], shown["description"]) == ("cancel", "orders", "Undo an order.")
    line = run("list", "shop.orders").splitlines()[1]
    assert line.split() == ["shop.orders.cancel", "cancel", "approval", "none", "Undo", "an", "order."]


@pytest.mark.req("R-5.13.1-02")
def test_a_module_is_called_by_its_alias_too() -> None:
    assert data("validate", "cancel", "--inputs", '{"order": 7}')["requires_approval"]
    assert data("describe", "cancel")["module_id"] == "shop.orders.cancel"
    with pytest.raises(CommandError, match=r"shop\.odd, shop\.orders\.secret"):
        run("describe", "same")
    with pytest.raises(CommandError, match="MODULE_NOT_FOUND"):
        run("describe", "nothing")


def test_a_description_says_everything() -> None:
    text = run("describe", "shop.orders.cancel")
    lines = [line.split() for line in text.splitlines()]
    for words in (["order", "integer", "required"], ["reason", "string"], ["(any)", "object"], ['"order":', "7"]):
        assert words in lines
    assert "Example: The usual" in text
    described = data("describe", "shop.orders.cancel")
    assert described["annotations"]["destructive"]
    assert described["requires_approval"]
    assert described["enabled"]
    assert described["input_schema"]["required"] == ["order"]
    assert described["examples"][0]["title"] == "The usual"


def test_what_is_empty_is_not_described() -> None:
    names = [line.split()[0] for line in run("describe", "shop.orders.cancel").splitlines() if line]
    assert "effect" in names
    assert not {"documentation", "guidance", "dependencies"} & set(names)
    assert "Ask first." in run("describe", "shop.odd")
    assert data("describe", "shop.orders.cancel")["documentation"] is None


def test_schemas_of_any_kind_are_described() -> None:
    lines = [line.split() for line in run("describe", "shop.odd").splitlines()]
    for words in (["kind", "a,", "1"], ["size", "integer", "or", "null"], ["item", "Item"], ["free", "any"]):
        assert words in lines
    assert ["guidance", "Ask", "first."] in lines


def test_a_terminal_gets_tables_and_texts_stay_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    drawn = re.sub(r"\x1b\[\d+m", "", run("list", out=Terminal()))
    assert "┃" in drawn
    assert max(map(len, drawn.splitlines())) == 60
    assert "[bold" in drawn
    assert "┃" not in run("--no-color", "list", out=Terminal())
    assert json.loads(run("list", "--json", out=Terminal()))


def test_without_the_library_it_is_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django_apcore.management.terminal.find_spec", lambda name: None)
    assert run("list", out=Terminal()) == run("list")


@pytest.mark.req("R-4.17-01", "R-4.17-04", "R-4.16-11")
def test_modules_are_exported_by_profile() -> None:
    assert data("export", "shop.orders.cancel", "--profile", "openai")["name"] == "shop_orders_cancel"
    assert [each["name"] for each in data("export", "--profile", "mcp")] == ["shop.odd", "shop.orders.cancel"]
    exported = json.loads(run("export", "cancel", "--strict"))
    assert exported["input_schema"]["required"] == ["order", "reason"]
    assert "required" not in data("export", "shop.odd")["input_schema"]
    with pytest.raises(CommandError, match="nonsense"):
        run("export", "--profile", "nonsense")


@pytest.mark.req("R-4.17-08")
def test_two_modules_are_not_exported_under_one_name(shop: Registry) -> None:
    shop.register(twin.id, twin)
    with pytest.raises(CommandError, match="both be exported as 'shop_orders_cancel'"):
        run("export", "--profile", "anthropic")
    assert len(data("export", "--profile", "mcp")) == 3


def test_a_database_without_tables_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: object, module_id: str) -> bool:
        raise OperationalError("no such table: django_apcore_toggle")

    monkeypatch.setattr(type(runtime.get().toggles), "is_enabled", missing)
    with pytest.raises(CommandError, match=r"no such table.*Was it migrated"):
        run("list")


def test_an_id_goes_before_an_alias(shop: Registry) -> None:
    shop.register("same", module(twin.function, id="same"))
    assert data("describe", "same")["module_id"] == "same"
