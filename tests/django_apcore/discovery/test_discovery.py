"""Modules of installed apps: which files, which objects, which IDs."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.apps import AppConfig
from django.test import override_settings

from apcore.errors import (
    BindingModuleNotFoundError,
    CircularDependencyError,
    ConfigError,
    InvalidModuleIdError,
    ModuleError,
    ModuleIdConflictError,
    ModuleLoadError,
    NoModuleClassError,
)
from apcore.registry import Registry
from django_apcore.discovery import find_commands, find_modules, noticed, register_modules

FUNCTION = """
from apcore import module

@module(id="shop.orders.ship")
def ship(order: int) -> bool:
    '''Ship an order.'''
    return True

@module()
def by_place(order: int) -> bool:
    '''Named by its place.'''
    return True
"""

CLASS = """
class {name}:
    description = "A class module."
    input_schema = {{"type": "object"}}
    output_schema = {{"type": "object"}}
    {attribute}

    def execute(self, inputs, context):
        return {{}}
"""


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppConfig]]:
    """Write an app with these files, and return its configuration."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(files: dict[str, str], name: str = "shop") -> AppConfig:
        package = tmp_path / name
        package.mkdir()
        (package / "__init__.py").touch()
        for path, text in files.items():
            file = package / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        __import__(name)
        return AppConfig(name, sys.modules[name])

    yield write
    for name in [each for each in sys.modules if each.partition(".")[0] in ("shop", "other")]:
        del sys.modules[name]


def found(config: AppConfig) -> list[str]:
    return [each.module_id for each in find_modules([config])]


def test_an_app_without_modules_is_fine(app: Callable[..., AppConfig]) -> None:
    assert found(app({})) == []


def test_functions_have_the_id_they_say_or_that_of_their_place(app: Callable[..., AppConfig]) -> None:
    assert found(app({"apcore_modules.py": FUNCTION})) == ["shop.orders.ship", "shop.by_place"]


def test_a_call_is_a_module_though_its_result_has_no_name(app: Callable[..., AppConfig]) -> None:
    call = "\ndef _pack(order: int) -> bool:\n    return True\n\nmodule(_pack, id='shop.orders.pack')\n"
    assert found(app({"apcore_modules.py": FUNCTION + call})) == [
        "shop.orders.ship",
        "shop.by_place",
        "shop.orders.pack",
    ]


def test_a_package_is_a_tree_of_ids(app: Callable[..., AppConfig]) -> None:
    config = app(
        {
            "apcore_modules/__init__.py": "",
            "apcore_modules/orders.py": FUNCTION,
            "apcore_modules/stock/__init__.py": "",
            "apcore_modules/stock/count.py": CLASS.format(name="Count", attribute=""),
            "apcore_modules/_private.py": "raise RuntimeError('private files are not loaded')",
            "apcore_modules/__pycache__/junk.py": "",
        }
    )
    assert found(config) == ["shop.orders.ship", "shop.orders.by_place", "shop.stock.count"]


@pytest.mark.req("R-2.1.1-05", "R-2.1.1-08")
def test_several_classes_of_a_file_are_told_apart_by_their_names(app: Callable[..., AppConfig]) -> None:
    two = CLASS.format(name="HTTPSender", attribute="") + CLASS.format(name="MathOps", attribute="")
    config = app({"apcore_modules/__init__.py": "", "apcore_modules/tools.py": two})
    assert found(config) == ["shop.tools.http_sender", "shop.tools.math_ops"]


def test_a_class_may_say_its_id_and_so_may_an_instance(app: Callable[..., AppConfig]) -> None:
    text = CLASS.format(name="Count", attribute="module_id = 'shop.stock.counted'") + "\n_hidden = Count()\n"
    assert found(app({"apcore_modules.py": text})) == ["shop.stock.counted"]
    text = CLASS.format(name="_Base", attribute="") + "\nweekly = _Base()\ndaily = _Base()\n"
    assert found(app({"apcore_modules.py": text}, "other")) == ["other.weekly", "other.daily"]


@pytest.mark.parametrize(("name", "instance"), [("Count", ""), ("_Count", "\nweekly = _Count()\n")])
def test_an_id_under_the_wrong_name_is_refused(app: Callable[..., AppConfig], name: str, instance: str) -> None:
    text = CLASS.format(name=name, attribute="id = 'shop.counted'") + instance
    with pytest.raises(InvalidModuleIdError, match=f"^{name} says id = 'shop.counted', but .* is module_id"):
        find_modules([app({"apcore_modules.py": text})])


@pytest.mark.req("R-5.2-06")
def test_what_is_imported_belongs_where_it_was_made(app: Callable[..., AppConfig]) -> None:
    config = app(
        {
            "shelves.py": FUNCTION + CLASS.format(name="Count", attribute=""),
            "apcore_modules.py": """
from apcore import Module, PlannedModule, module
from shop.shelves import Count, by_place, ship

def plain(order: int) -> bool:
    '''A function of somebody else, wrapped here.'''
    return True

wrapped = module(ship.function, id="shop.wrapped")
""",
        }
    )
    assert found(config) == ["shop.wrapped"]


def test_a_broken_file_is_named_and_its_own_error_raised(app: Callable[..., AppConfig]) -> None:
    config = app({"apcore_modules/__init__.py": "", "apcore_modules/bad.py": "import no_such_library\n"})
    with pytest.raises(ModuleNotFoundError, match="no_such_library") as broken:
        find_modules([config])
    assert "apcore_modules/bad.py" in broken.value.__notes__[0]


def test_so_is_one_with_a_syntax_error(app: Callable[..., AppConfig]) -> None:
    with pytest.raises(SyntaxError) as broken:
        find_modules([app({"apcore_modules.py": "def"})])
    assert "apcore_modules.py" in broken.value.__notes__[0]


def test_a_module_that_is_not_admitted_is_named_with_its_file(app: Callable[..., AppConfig]) -> None:
    text = CLASS.format(name="Count", attribute="").replace("description", "prescription")
    with pytest.raises(ModuleError) as refused:
        register_modules(Registry(), [app({"apcore_modules.py": text})])
    assert "shop.count of" in refused.value.__notes__[0]
    assert "apcore_modules.py" in refused.value.__notes__[0]


def test_an_id_that_is_none_is_refused(app: Callable[..., AppConfig]) -> None:
    text = CLASS.format(name="Count", attribute="module_id = 'Not An ID'")
    with pytest.raises(InvalidModuleIdError):
        find_modules([app({"apcore_modules.py": text})])


def test_two_modules_of_one_id_are_refused(app: Callable[..., AppConfig]) -> None:
    text = CLASS.format(name="One", attribute="module_id = 'shop.same'")
    config = app({"apcore_modules.py": text + CLASS.format(name="Two", attribute="module_id = 'shop.same'")})
    with pytest.raises(ModuleError, match=r"shop\.same"):
        register_modules(Registry(), [config])


BINDING = """
bindings:
  - module_id: shop.orders.count
    target_id: "shop.services:count_orders"
    auto_schema: true
  - module_id: shop.by_place
    display: {alias: placed}
"""
SERVICES = "def count_orders(year: int) -> int:\n    return year\n"


@pytest.mark.req("R-5.12.1-01", "R-5.13.1-01")
def test_an_app_binds_its_functions_and_presents_its_modules(app: Callable[..., AppConfig]) -> None:
    files = {"apcore_modules.py": FUNCTION, "services.py": SERVICES, "bindings/shop.binding.yaml": BINDING}
    registry = Registry()

    register_modules(registry, [app(files)])

    assert registry.list() == ["shop.by_place", "shop.orders.count", "shop.orders.ship"]
    assert registry.get_definition("shop.orders.count").execute({"year": 3}, None) == {"result": 3}
    assert registry.get_definition("shop.by_place").metadata["display"]["cli"]["alias"] == "placed"


def test_a_wrong_binding_is_named_with_its_file(app: Callable[..., AppConfig]) -> None:
    with pytest.raises(ModuleError) as refused:
        register_modules(Registry(), [app({"bindings/shop.binding.yaml": BINDING})])
    assert "shop.binding.yaml" in refused.value.__notes__[0]


@pytest.mark.req("R-5.2-07", "R-5.3-01")
def test_a_metadata_file_belongs_to_the_file_beside_it(app: Callable[..., AppConfig]) -> None:
    config = app(
        {
            "apcore_modules/__init__.py": "",
            "apcore_modules/first.py": CLASS.format(name="First", attribute=""),
            "apcore_modules/first_meta.yaml": "tags: [early]\ndependencies: [shop.second]\n",
            "apcore_modules/second.py": CLASS.format(name="Second", attribute=""),
        }
    )
    registered = []
    registry = Registry()
    registry.on("register", lambda module_id, module: registered.append(module_id))

    register_modules(registry, [config])

    assert registered == ["shop.second", "shop.first"]
    assert registry.list(tags=["early"]) == ["shop.first"]


def test_directories_need_no_init_file(app: Callable[..., AppConfig]) -> None:
    config = app(
        {
            "apcore_modules/orders/cancel.py": CLASS.format(name="Cancel", attribute=""),
            "apcore_modules/orders/__init__.py": CLASS.format(name="Count", attribute=""),
            "apcore_modules/stock/boxes/count.py": CLASS.format(name="Count", attribute=""),
        }
    )
    assert found(config) == ["shop.orders.count", "shop.orders.cancel", "shop.stock.boxes.count"]


@pytest.mark.parametrize("file", ["apcore_modules.py", "apcore_modules/orders.py"])
def test_a_file_that_python_would_not_see_is_an_error(app: Callable[..., AppConfig], file: str) -> None:
    config = app({"apcore_modules/__init__.py": "", file: FUNCTION, "apcore_modules/orders/cancel.py": ""})
    with pytest.raises(ModuleIdConflictError, match="hidden by the directory"):
        find_modules([config])


def test_what_is_left_out_is_noticed(app: Callable[..., AppConfig]) -> None:
    config = app({"apcore_modules/__init__.py": "", "apcore_modules/Odd-Name.py": FUNCTION})
    with noticed() as texts:
        assert found(config) == []
    assert "Odd-Name" in texts[0]


@pytest.mark.req("R-5.2-01")
def test_a_metadata_file_names_the_class_that_counts(app: Callable[..., AppConfig]) -> None:
    two = CLASS.format(name="One", attribute="") + CLASS.format(name="Two", attribute="")
    config = app(
        {
            "apcore_modules/__init__.py": "",
            "apcore_modules/first.py": two,
            "apcore_modules/first_meta.yaml": "entry_point: first:Two\n",
            "apcore_modules/other.py": "",
            "apcore_modules/other_meta.yaml": "entry_point: _beside:One\n",
            "apcore_modules/_beside.py": two,
        }
    )
    modules = find_modules([config])
    assert [(each.module_id, each.module.__name__) for each in modules] == [
        ("shop.first", "Two"),
        ("shop.other", "One"),
    ]


def test_a_class_that_is_not_there_cannot_count(app: Callable[..., AppConfig]) -> None:
    files = {"apcore_modules.py": "", "apcore_modules_meta.yaml": "entry_point: apcore_modules:One\n"}
    with pytest.raises(NoModuleClassError, match="One"):
        find_modules([app(files)])


def test_wrong_metadata_is_named_with_its_file(app: Callable[..., AppConfig]) -> None:
    with pytest.raises(ModuleLoadError, match=r"apcore_modules_meta\.yaml"):
        find_modules([app({"apcore_modules.py": FUNCTION, "apcore_modules_meta.yaml": "tags: one\n"})])


@pytest.mark.req("R-5.3-02", "R-5.15.2-07", "R-5.15.2-09")
def test_modules_of_apps_that_wait_for_each_other_are_refused(app: Callable[..., AppConfig]) -> None:
    first = app({"apcore_modules.py": CLASS.format(name="A", attribute="dependencies = ['other.b']")})
    second = app({"apcore_modules.py": CLASS.format(name="B", attribute="dependencies = ['shop.a']")}, "other")
    registry = Registry()
    with pytest.raises(CircularDependencyError, match=r"other\.b -> shop\.a"):
        register_modules(registry, [first, second])
    assert registry.list() == []


@pytest.mark.req("R-5.12.3-02", "R-5.12.7-02")
def test_what_the_target_of_a_binding_raises_is_told(app: Callable[..., AppConfig]) -> None:
    config = app({"bindings/shop.binding.yaml": BINDING, "services.py": "1 / 0\n"})
    with pytest.raises(BindingModuleNotFoundError) as refused:
        register_modules(Registry(), [config])
    assert isinstance(refused.value.__cause__, ZeroDivisionError)


@pytest.mark.req("R-5.12.6-01", "R-5.12.6-02")
def test_settings_say_where_bindings_are(app: Callable[..., AppConfig], tmp_path: Path) -> None:
    project = tmp_path / "project.yaml"
    project.write_text("bindings: [{module_id: shop.orders.count, display: {cli: {alias: ours}}}]")
    config = app({"bound/shop.yml": BINDING, "services.py": SERVICES, "apcore_modules.py": FUNCTION})
    registry = Registry()
    with override_settings(
        APCORE={"BINDINGS_DIR": "bound", "BINDINGS_PATTERN": "*.yml", "BINDING_FILES": [str(project)]}
    ):
        register_modules(registry, [config])
    assert "shop.orders.count" in registry.list()
    assert registry.get_definition("shop.orders.count").metadata["display"]["cli"]["alias"] == "ours"


@pytest.mark.req("R-5.13.1-02")
def test_a_presentation_of_nothing_is_noticed(app: Callable[..., AppConfig]) -> None:
    config = app({"bindings/shop.binding.yaml": "bindings: [{module_id: shop.gone, display: {alias: gone}}]"})
    registry = Registry()
    with noticed() as texts:
        register_modules(registry, [config])
    assert registry.list() == []
    assert "'shop.gone' is presented" in texts[0]


COMMANDS = """
TAGS = ["plain"]
CLI_GROUP = "orders"

def ship(order: int) -> bool:
    '''Ship an order.'''
    return order > 0

def untyped(order):
    return order

def _helper() -> None: ...
"""


@pytest.mark.req("R-5.14.1-01", "R-5.14.3-01", "R-5.14.4-01", "R-5.14.4-04", "R-5.14.5-01", "R-5.14.5-03")
def test_plain_functions_are_modules_where_the_settings_say_so(app: Callable[..., AppConfig]) -> None:
    config = app({"commands/stock/orders.py": COMMANDS})
    registry = Registry()
    with noticed() as texts, override_settings(APCORE={"CONVENTION_APPS": ["shop"]}):
        register_modules(registry, [config])
    assert registry.list() == ["shop.stock.orders.ship"]
    definition = registry.get_definition("shop.stock.orders.ship")
    assert definition.execute({"order": 1}, None) == {"result": True}
    assert definition.metadata["display"]["cli"]["group"] == "orders"
    assert definition.tags == ("plain",)
    assert "untyped" in texts[0]


@pytest.mark.req("R-5.14.1-02")
def test_and_nowhere_else(app: Callable[..., AppConfig]) -> None:
    config = app({"commands/orders.py": COMMANDS, "apcore_modules.py": FUNCTION})
    assert find_commands([config]) == []
    with override_settings(APCORE={"CONVENTION_APPS": ["other"]}):
        assert find_commands([config]) == []
        assert found(config) == ["shop.orders.ship", "shop.by_place"]


@pytest.mark.req("R-5.14.5-02", "R-5.14.9-01")
def test_a_file_may_say_the_whole_prefix(app: Callable[..., AppConfig]) -> None:
    display = "bindings: [{module_id: sales.ship, display: {cli: {alias: send}}}]"
    config = app({"tasks/any.py": f"MODULE_PREFIX = 'sales'\n{COMMANDS}", "bindings/a.binding.yaml": display})
    registry = Registry()
    with override_settings(APCORE={"CONVENTION_APPS": ["shop"], "CONVENTIONS_DIR": "tasks"}):
        register_modules(registry, [config])
    assert registry.list() == ["sales.ship"]
    shown = registry.get_definition("sales.ship").metadata["display"]["cli"]
    assert (shown["alias"], shown["group"]) == ("send", "orders")


def test_broken_commands_stop_the_start(app: Callable[..., AppConfig]) -> None:
    with override_settings(APCORE={"CONVENTION_APPS": ["shop"]}), pytest.raises(ConfigError, match="commands"):
        find_commands([app({})])
    config = app({"commands/bad.py": "1 / 0"}, "other")
    with override_settings(APCORE={"CONVENTION_APPS": ["other"]}), pytest.raises(ModuleLoadError) as broken:
        find_commands([config])
    assert "bad.py" in str(broken.value)
    assert isinstance(broken.value.__cause__, ZeroDivisionError)


@pytest.mark.req("R-5.2-04")
@pytest.mark.parametrize("file", ["apcore_modules.py", "apcore_modules/helpers.py"])
def test_a_file_without_a_module_is_an_error(app: Callable[..., AppConfig], file: str) -> None:
    with pytest.raises(NoModuleClassError, match="defines no module"):
        find_modules([app({file: "def helper(): ...\n"})])


def test_files_that_nobody_reads_are_noticed(app: Callable[..., AppConfig]) -> None:
    config = app(
        {
            "apcore_modules/orders/cancel.py": CLASS.format(name="Cancel", attribute=""),
            "apcore_modules/orders/cancel_meta.yaml": "tags: [orders]",
            "apcore_modules/orders/cancle_meta.yaml": "tags: [orders]",
            "apcore_modules/orders/cancel_meta.yml": "tags: [orders]",
            "bindings/shop.yaml": BINDING,
            "bindings/shop.binding.yaml": "bindings: []",
        }
    )
    with noticed() as texts:
        register_modules(Registry(), [config])
    assert [text.partition(" ")[0].rpartition("/")[2] for text in texts] == [
        "shop.yaml'",
        "cancel_meta.yml'",
        "cancle_meta.yaml'",
    ]


def test_an_app_may_be_a_single_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    __import__("shop")
    config = AppConfig("shop", sys.modules.pop("shop"))
    assert found(config) == []


@pytest.mark.req("R-5.3-03")
@pytest.mark.parametrize("dependencies", ["7", "[7]", "'shop.b'"])
def test_dependencies_that_are_none_are_named_with_their_module(
    app: Callable[..., AppConfig], dependencies: str
) -> None:
    config = app({"apcore_modules.py": CLASS.format(name="A", attribute=f"dependencies = {dependencies}")})
    with pytest.raises(ModuleError, match=r"shop\.a"):
        register_modules(Registry(), [config])


SCHEMA_FILE = """
module_id: shop.orders
version: "1.2.0"
description: From the file.
input_schema:
  type: object
  properties:
    number: {{type: {kind}}}
  required: [number]
"""


def test_schema_files_of_an_app_complete_its_modules(app: Callable[..., AppConfig]) -> None:
    code = CLASS.format(name="Orders", attribute="").replace('    input_schema = {"type": "object"}\n', "")
    files = {"apcore_modules/orders.py": code, "schemas/shop.orders.schema.yaml": SCHEMA_FILE.format(kind="integer")}
    registry = Registry()
    register_modules(registry, [app(files)])
    definition = registry.get_definition("shop.orders")
    assert definition.input_schema["properties"]["number"] == {"type": "integer"}
    assert (definition.description, definition.version) == ("A class module.", "1.2.0")
    assert definition.output_schema == {"type": "object"}


def test_a_schema_file_wins_over_the_code(app: Callable[..., AppConfig]) -> None:
    files = {
        "apcore_modules/orders.py": CLASS.format(name="Orders", attribute=""),
        "schemas/shop.orders.schema.yaml": SCHEMA_FILE.format(kind="string"),
    }
    registry = Registry()
    register_modules(registry, [app(files)])
    assert registry.get_definition("shop.orders").input_schema["required"] == ["number"]


def test_schema_files_of_one_app_say_nothing_of_another(app: Callable[..., AppConfig]) -> None:
    module = {"apcore_modules/orders.py": CLASS.format(name="Orders", attribute="")}
    shop = app(module)
    other = app({"schemas/shop.orders.schema.yaml": SCHEMA_FILE.format(kind="string")}, name="other")
    registry = Registry()
    register_modules(registry, [shop, other])
    assert registry.get_definition("shop.orders").input_schema == {"type": "object"}


def test_a_wrong_schema_file_is_refused_with_its_name(app: Callable[..., AppConfig]) -> None:
    files = {
        "apcore_modules/orders.py": CLASS.format(name="Orders", attribute=""),
        "schemas/shop.orders.schema.yaml": SCHEMA_FILE.format(kind="nonsense"),
    }
    with pytest.raises(ModuleError, match="nonsense") as refused:
        register_modules(Registry(), [app(files)])
    assert "shop.orders" in str(refused.value.details) + " ".join(refused.value.__notes__)
