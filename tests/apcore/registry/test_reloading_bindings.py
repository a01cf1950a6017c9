"""Reloading a module that a binding file makes: its item and the file of its target are read again (§5.12, §12.7.3)."""

import sys
import textwrap

import pytest

from apcore import BindingLoader, Executor, Registry
from apcore.errors import NoModuleClassError, ReloadFailedError

BINDING = """
bindings:
  - module_id: shop.price
    target_id: "shop_prices:price"
    description: {description}
"""
FUNCTION = """
RATE = {rate}
def price(amount: int) -> dict[str, int]:
    return {{"price": RATE * amount}}
"""


@pytest.fixture
def shop(project, write, monkeypatch):
    """A registry with a function of the project that a binding file makes a module, and what to write it with."""
    monkeypatch.syspath_prepend(project)
    loaded = set(sys.modules)

    def prices(rate):
        write("shop_prices.py", FUNCTION.format(rate=rate))

    def binding(text=BINDING, **parts):
        write("bindings/shop.binding.yaml", text.format(**{"description": "The price", **parts}))

    prices(1)
    binding()
    registry = Registry()
    registry.discover()
    yield registry, prices, binding
    for name in set(sys.modules) - loaded:
        if name.startswith("shop"):
            del sys.modules[name]


def price_of(registry):
    return Executor(registry).call("shop.price", {"amount": 1})["price"]


@pytest.mark.req("R-12.7.3-02")
def test_the_function_and_what_the_file_says_of_it_are_new(shop):
    registry, prices, binding = shop
    before = registry.get_definition("shop.price")

    prices(100)
    binding(description="The price of today\n    tags: [prices]\n    display: {alias: price-today}")
    definition = registry.reload("shop.price")

    assert price_of(registry) == 100
    assert definition.description == "The price of today"
    assert definition.tags == ("prices",)
    assert definition.metadata["display"]["alias"] == "price-today"
    assert definition.content_hash != before.content_hash
    assert registry.discover() == []

    binding()
    assert "display" not in registry.reload("shop.price").metadata


def test_a_schema_file_that_the_binding_names_is_read_again(shop, write):
    registry, _, binding = shop
    schema = "input_schema: {{type: object, properties: {{amount: {{type: integer, maximum: {}}}}}}}"
    binding(description="The price\n    schema_ref: price.schema.yaml")
    write("bindings/price.schema.yaml", schema.format(10))
    registry.reload("shop.price")

    write("bindings/price.schema.yaml", schema.format(20))
    definition = registry.reload("shop.price")

    assert definition.input_schema["properties"]["amount"]["maximum"] == 20


def test_what_another_item_says_of_its_presentation_stays(shop, write):
    registry, _, binding = shop
    write("bindings/words.binding.yaml", "bindings: [{module_id: shop.price, display: {alias: asked-price}}]")
    registry.discover()
    assert registry.get_definition("shop.price").metadata["display"]["alias"] == "asked-price"

    binding(description="The new price")
    definition = registry.reload("shop.price")

    assert definition.description == "The new price"
    assert definition.metadata["display"]["alias"] == "asked-price"


@pytest.mark.req("R-12.7.3-08")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "does not exist"),
        ("bindings: [", "cannot be read"),
        ("bindings: []", "does not define 'shop.price' any more"),
        (BINDING.format(description=5), "wrong at"),
        (BINDING.format(description="x").replace("shop_prices", "nowhere at all"), "not of the form"),
        (BINDING.format(description="x").replace("shop_prices", "shop_nowhere"), "cannot be imported"),
        (BINDING.format(description="x") + "    input_schema: {type: nonsense}", "JSON Schema"),
        (BINDING.format(description="x") + "    annotations: {readonly: 'no'}", "readonly"),
    ],
)
def test_the_old_one_stays_where_the_item_is_wrong(shop, project, write, text, reason):
    registry = shop[0]
    before = registry.get("shop.price")

    if text is None:
        (project / "bindings/shop.binding.yaml").unlink()
    else:
        write("bindings/shop.binding.yaml", text)
    with pytest.raises(ReloadFailedError, match=reason):
        registry.reload("shop.price")

    assert registry.get("shop.price") is before
    assert price_of(registry) == 1
    assert_can_be_reloaded(shop)


@pytest.mark.req("R-12.7.3-08")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "cannot be imported: ModuleNotFoundError"),
        ("def price(", "cannot be imported: SyntaxError"),
        ("price = 1", "not callable"),
        ("def cost(): ...", "has no 'price'"),
        ("def price(amount): return {}", "too little for a schema"),
    ],
)
def test_the_old_one_stays_where_the_target_is_wrong(shop, project, write, text, reason):
    registry = shop[0]
    before, python = registry.get("shop.price"), sys.modules["shop_prices"]

    if text is None:
        (project / "shop_prices.py").unlink()
    else:
        write("shop_prices.py", text)
    with pytest.raises(ReloadFailedError, match=reason):
        registry.reload("shop.price")

    assert registry.get("shop.price") is before
    assert sys.modules["shop_prices"] is python
    assert price_of(registry) == 1
    assert_can_be_reloaded(shop)


def assert_can_be_reloaded(shop):
    registry, prices, binding = shop
    prices(200)
    binding()
    registry.reload("shop.price")
    assert price_of(registry) == 200


def test_a_package_that_is_imported_anew_keeps_what_is_inside(shop, write):
    registry, _, binding = shop
    write("shop_package/__init__.py", "from .price import price\nfrom . import _rates\nRATE = _rates.RATE")
    write("shop_package/price.py", FUNCTION.format(rate=3))
    write("shop_package/_rates.py", "RATE = 3")
    write("shop_package/later.py")
    binding(text=BINDING.replace("shop_prices:price", "shop_package:price"))
    registry.reload("shop.price")
    import shop_package.later

    inside = sys.modules["shop_package.price"], shop_package.later
    assert price_of(registry) == 3

    write(
        "shop_package/__init__.py",
        "from .price import price as told\ndef price(amount: int) -> dict[str, int]:\n"
        "    return {'price': told(amount)['price'] + 1}\n",
    )
    registry.reload("shop.price")

    renewed = sys.modules["shop_package"]
    assert renewed is not shop_package
    assert price_of(registry) == 4
    assert (sys.modules["shop_package.price"], renewed.later) == inside


def test_what_is_installed_is_not_imported_a_second_time(shop, write):
    registry, _, binding = shop
    text = BINDING.replace("shop_prices:price", "textwrap:dedent")
    schemas = "    input_schema: {{type: object, properties: {{text: {{type: string}}}}}}\n    output_schema: {{}}\n"
    binding(text=text + schemas)
    registry.reload("shop.price")

    binding(text=text + schemas, description="Other words")
    assert registry.reload("shop.price").description == "Other words"
    assert sys.modules["textwrap"] is textwrap
    assert Executor(registry).call("shop.price", {"text": "  a"}) == {"result": "a"}


def test_a_binding_that_was_loaded_by_hand_can_be_reloaded(shop, write):
    prices = shop[1]
    registry = Registry()
    BindingLoader().load_bindings("bindings/shop.binding.yaml", registry)

    prices(300)
    registry.reload("shop.price")

    assert price_of(registry) == 300


def test_an_item_that_only_presents_makes_no_module(shop):
    registry, _, binding = shop
    binding(text="bindings: [{{module_id: shop.price, display: {{alias: price}}}}]")
    with pytest.raises(ReloadFailedError) as caught:
        registry.reload("shop.price")
    assert isinstance(caught.value.cause, NoModuleClassError)
