import pytest

from apcore.modules import ModuleAnnotations
from apcore.registry import Registry


def module(description, tags=(), **annotations):
    attributes = {
        "description": description,
        "tags": tags,
        "annotations": ModuleAnnotations(**annotations),
        "input_schema": {"type": "object", "properties": {"a": {"type": "integer", "x-sensitive": True}}},
        "output_schema": {"type": "object"},
        "execute": lambda self, inputs, context: {},
    }
    return type("Sample", (), attributes)


@pytest.fixture
def registry():
    registry = Registry()
    registry.register("shop.refund", module("Pay money back", ["money", "orders"], destructive=True))
    registry.register("shop.charge", module("Take money", ["money"]))
    registry.register("shopping.list", module("What to buy"))
    registry.register("ephemeral.tool", module("Only for those who know", ["money"], discoverable=False))
    return registry


@pytest.mark.req("R-12.2-09", "R-4.4-12")
def test_list_is_in_order_and_hides_what_is_not_discoverable(registry):
    assert registry.list() == ["shop.charge", "shop.refund", "shopping.list"]
    assert registry.list(include_hidden=True) == ["ephemeral.tool", "shop.charge", "shop.refund", "shopping.list"]


def test_list_takes_a_prefix_and_tags(registry):
    assert registry.list(prefix="shop.") == ["shop.charge", "shop.refund"]
    assert registry.list(tags=["money"]) == ["shop.charge", "shop.refund"]
    assert registry.list(tags=["money", "orders"]) == ["shop.refund"]
    assert registry.list("shop.", ["nothing"]) == []


@pytest.mark.req("R-12.2-11", "R-4.4-12")
def test_find_takes_a_predicate_over_definitions(registry):
    assert registry.find(lambda definition: definition.annotations.destructive) == ["shop.refund"]
    assert "ephemeral.tool" not in registry.find(lambda definition: True)
    assert "ephemeral.tool" in registry.find(lambda definition: True, include_hidden=True)


@pytest.mark.req("R-12.2-11")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MONEY", ["shop.charge", "shop.refund"]),
        ("money back", ["shop.refund"]),
        ("back money", ["shop.refund"]),
        ("orders", ["shop.refund"]),
        ("shopping", ["shopping.list"]),
        ("absent", []),
    ],
)
def test_find_takes_words(registry, text, found):
    assert registry.find(text) == found


@pytest.mark.req("R-4.4-12")
def test_a_hidden_module_can_still_be_reached_by_its_id(registry):
    assert registry.get("ephemeral.tool") is registry.get_definition("ephemeral.tool").module
    assert registry.describe("ephemeral.tool").annotations.discoverable is False
