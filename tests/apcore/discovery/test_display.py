from dataclasses import fields

import pytest
import yaml

from apcore import BindingLoader, Registry, ResolvedModule, display_of, module, resolve_display
from apcore.discovery import ResolvedDisplay, SurfaceDisplay, read_binding_file, write_binding_file
from apcore.errors import ModuleNotFoundError, SchemaValidationError

ID = "credit_purchase.get_purchase_status.get"
SURFACES = ("cli", "mcp", "a2a")

SCANNED = {
    "module_id": ID,
    "target_id": "myapp.purchase:get_purchase_status",
    "description": "Scanned",
    "documentation": "Scanned at length",
    "tags": ["scanned"],
    "input_schema": {"type": "object"},
    "output_schema": {"type": "object"},
    "version": "1.0.0",
    "annotations": None,
    "metadata": {},
}
COMPLETE = """
    bindings:
      - module_id: "credit_purchase.get_purchase_status.get"
        target_id: "tests.apcore.discovery.targets:send_email"
        description: "Auto-generated from docstring"
        display:
          alias: "purchase-status"
          description: "Check purchase payment status"
          documentation: |
            Query Stripe.
          guidance: |
            Use when the user asks about payment status.
          tags: ["billing", "payment"]
          cli:
            alias: "pay-status"
            description: "Check Stripe payment"
            guidance: "In a shell"
            group: "pay"
          mcp:
            alias: "check_payment_status"
            description: "Look up purchase payment status"
          a2a:
            alias: "Payment Status Checker"
            description: "I can check the status of any purchase payment"
"""


def resolve(scanned=None, **item):
    bindings = [{"module_id": ID, **item}] if item else []
    [resolved] = resolve_display([{**SCANNED, **(scanned or {})}], bindings)
    return resolved.display


def warnings(caplog):
    return [each.message for each in caplog.records if each.levelname == "WARNING"]


@pytest.mark.req("R-5.13.5-06", "R-5.13.1-03", "R-5.13.10-02")
def test_001_without_a_binding_everything_is_as_it_was_scanned():
    display = resolve()

    assert (display.alias, display.description, display.documentation) == (ID, "Scanned", "Scanned at length")
    assert (display.guidance, display.tags) == (None, ["scanned"])
    assert display.cli == display.mcp == display.a2a == SurfaceDisplay(ID, "Scanned", None)


@pytest.mark.req("R-5.13.4-02", "R-5.13.10-02", "R-5.13.4-03")
def test_002_an_alias_for_all_is_used_on_every_surface():
    display = resolve(display={"alias": "status"})

    assert {display.alias, display.cli.alias, display.mcp.alias, display.a2a.alias} == {"status"}
    assert display.description == "Scanned"


@pytest.mark.req("R-5.13.5-01", "R-5.13.5-07", "R-5.13.10-02")
def test_003_005_006_008_the_chain_of_the_alias():
    suggested = {"metadata": {"suggested_alias": "suggested"}}

    assert resolve(suggested, display={"alias": "all", "mcp": {"alias": "mcp"}}).mcp.alias == "mcp"
    assert resolve(suggested, display={"alias": "all", "mcp": {"alias": "mcp"}}).cli.alias == "all"
    assert resolve(suggested, display={"alias": "all"}).mcp.alias == "all"
    assert resolve(suggested).mcp.alias == "suggested"
    assert resolve().mcp.alias == ID


@pytest.mark.req("R-5.13.5-02", "R-5.13.10-02", "R-5.13.4-03")
def test_004_007_the_chain_of_the_description():
    item = {"description": "Binding", "display": {"description": "All", "cli": {"description": "Cli"}}}

    assert resolve(**item).cli.description == "Cli"
    assert resolve(**item).mcp.description == resolve(**item).a2a.description == resolve(**item).description == "All"
    assert resolve(description="Binding", display={}).cli.description == "Binding"
    assert resolve(display={}).cli.description == "Scanned"
    assert resolve({"description": None}).cli.description == ""


@pytest.mark.req("R-5.13.5-03")
def test_the_chain_of_the_documentation():
    assert resolve(documentation="Binding", display={"documentation": "All"}).documentation == "All"
    assert resolve(documentation="Binding", display={}).documentation == "Binding"
    assert resolve(display={}).documentation == "Scanned at length"
    assert resolve({"documentation": None}).documentation is None


@pytest.mark.req("R-5.13.5-05", "R-5.13.10-02")
def test_009_the_chain_of_the_tags():
    assert resolve(tags=["binding"], display={"tags": ["all"]}).tags == ["all"]
    assert resolve(tags=["binding"], display={"tags": []}).tags == []
    assert resolve(tags=["binding"], display={}).tags == ["binding"]
    assert resolve(display={}).tags == ["scanned"]


@pytest.mark.req("R-5.13.4-01", "R-5.13.1-03", "R-5.13.10-02")
def test_010_of_ten_modules_only_the_two_that_are_named_change():
    scanned = [{**SCANNED, "module_id": f"a.m{number}"} for number in range(10)]
    bindings = {f"a.m{number}": {"module_id": f"a.m{number}", "display": {"alias": f"x{number}"}} for number in (3, 7)}

    resolved = resolve_display(scanned, bindings)

    assert [each.module_id for each in resolved] == [f"a.m{number}" for number in range(10)]
    changed = {each.module_id: each.display.alias for each in resolved if each.display.alias != each.module_id}
    assert changed == {"a.m3": "x3", "a.m7": "x7"}


@pytest.mark.req("R-5.13.5-04", "R-5.13.10-02", "R-5.13.3-02")
def test_011_012_the_chain_of_the_guidance():
    long = "Use it. " * 2_500
    display = resolve(display={"guidance": long, "mcp": {"guidance": "Mcp"}})

    assert (display.mcp.guidance, display.cli.guidance, display.guidance) == ("Mcp", long, long)
    assert resolve({"guidance": "Scanned"}, display={"alias": "x"}).mcp.guidance is None


@pytest.mark.req("R-5.13.6-01", "R-5.13.10-02")
def test_013_an_mcp_alias_is_a_tool_name_or_an_error():
    for alias in ("a" * 64, "_x", "Check-it_2"):
        assert resolve(display={"mcp": {"alias": alias}}).mcp.alias == alias
    for alias in ("a" * 65, "a b", "1a", "a.b", "", "ä", "a\n"):
        with pytest.raises(SchemaValidationError) as caught:
            resolve(display={"mcp": {"alias": alias}})
        assert caught.value.errors[0]["path"] == "/display/mcp/alias"


@pytest.mark.req("R-5.13.6-02", "R-5.13.6-03", "R-5.13.10-02")
@pytest.mark.parametrize("alias", ["Pay Status", "Pay", "1pay", ""])
def test_014_a_command_that_no_shell_takes_warns_and_gives_way(caplog, alias):
    assert resolve(display={"alias": "status", "cli": {"alias": alias}}).cli.alias == "status"
    assert len(warnings(caplog)) == 1
    assert resolve(display={"cli": {"alias": alias}}).cli.alias == ID


@pytest.mark.req("R-5.13.6-02")
def test_a_long_command_is_fine(caplog):
    assert resolve(display={"cli": {"alias": "a" * 50}}).cli.alias == "a" * 50
    assert caplog.records == []


@pytest.mark.req("R-5.13.6-04")
@pytest.mark.parametrize("alias", ["Pay Status", "a" * 65, "a.b"])
def test_an_odd_alias_for_all_warns_and_stays(caplog, alias):
    assert resolve(display={"alias": alias}).alias == alias
    assert len(warnings(caplog)) == 1


@pytest.mark.req("R-5.13.6-05")
@pytest.mark.parametrize("alias", ["Payment Status Checker", "ä" * 200])
def test_an_a2a_alias_is_free(caplog, alias):
    assert resolve(display={"a2a": {"alias": alias}}).a2a.alias == alias
    assert caplog.records == []


@pytest.mark.req("R-5.13.9-01", "R-5.13.9-02")
def test_the_types_are_those_of_the_protocol():
    assert [each.name for each in fields(ResolvedModule)] == [
        "module_id",
        "target_id",
        "input_schema",
        "output_schema",
        "version",
        "annotations",
        "display",
    ]
    assert [each.name for each in fields(ResolvedDisplay)] == [
        "alias",
        "description",
        "documentation",
        "guidance",
        "tags",
        *SURFACES,
    ]
    [resolved] = resolve_display([{"module_id": "a.b"}])
    display = resolved.display
    assert (display.alias, display.description, display.tags) == ("a.b", "", [])
    assert display.documentation is display.guidance is None


@pytest.fixture
def registry(write):
    registry = Registry()
    BindingLoader().load_bindings(write("bindings/pay.binding.yaml", COMPLETE), registry)
    return registry


@pytest.mark.req("R-5.13.1-01", "R-5.13.3-01", "R-5.13.8-02", "R-5.13.1-02")
def test_the_presentation_is_resolved_at_registration(registry):
    assert registry.get_definition(ID).metadata["display"] == {
        "alias": "purchase-status",
        "description": "Check purchase payment status",
        "documentation": "Query Stripe.\n",
        "guidance": "Use when the user asks about payment status.\n",
        "tags": ["billing", "payment"],
        "cli": {
            "alias": "pay-status",
            "description": "Check Stripe payment",
            "guidance": "In a shell",
            "group": "pay",
        },
        "mcp": {
            "alias": "check_payment_status",
            "description": "Look up purchase payment status",
            "guidance": "Use when the user asks about payment status.\n",
        },
        "a2a": {
            "alias": "Payment Status Checker",
            "description": "I can check the status of any purchase payment",
            "guidance": "Use when the user asks about payment status.\n",
        },
    }
    assert registry.list() == [ID]
    with pytest.raises(ModuleNotFoundError):
        registry.get("purchase-status")


@pytest.mark.req("R-5.13.8-03")
def test_surfaces_show_what_was_resolved_whatever_the_file_says_later(registry, write):
    write("bindings/pay.binding.yaml", "bindings: []")

    assert display_of(registry.get_definition(ID), "mcp").alias == "check_payment_status"
    assert display_of(registry.describe(ID), "cli") == SurfaceDisplay(
        "pay-status", "Check Stripe payment", "In a shell", "pay"
    )


@pytest.mark.req("R-5.13.8-04")
@pytest.mark.parametrize("surface", SURFACES)
def test_without_a_presentation_there_are_the_id_and_the_description(surface):
    def add(a: int) -> dict:
        """Add it"""
        return {}

    registry = Registry()
    definition = registry.register("a.add", module(add, id="a.add"))
    assert display_of(definition, surface) == SurfaceDisplay("a.add", "Add it")


@pytest.mark.req("R-5.12.2-02", "R-5.13.4-01")
def test_an_item_without_a_target_presents_a_module_that_is_there(write, registry, caplog):
    def add(a: int) -> dict:
        """Add it"""
        return {}

    registry.register("a.add", module(add, id="a.add", tags=["x"]))
    text = "bindings:\n  - {module_id: a.add, display: {alias: add}}\n  - {module_id: a.gone, display: {alias: gone}}\n"

    assert BindingLoader().load_bindings(write("overlay.binding.yaml", text), registry) == []

    display = registry.get_definition("a.add").metadata["display"]
    assert (display["alias"], display["description"], display["tags"]) == ("add", "Add it", ["x"])
    assert registry.list() == ["a.add", ID]
    assert ["a.gone" in each for each in warnings(caplog)] == [True]


def test_an_alias_that_is_an_error_leaves_the_registry_as_it_was(write):
    registry = Registry()
    text = COMPLETE.replace("check_payment_status", "check payment status")

    with pytest.raises(SchemaValidationError):
        BindingLoader().load_bindings(write("pay.binding.yaml", text), registry)
    assert registry.list() == []


@pytest.mark.req("R-5.13.10-01")
def test_what_is_written_holds_the_resolved_presentation(registry, tmp_path):
    definition = registry.get_definition(ID)
    item = read_binding_file(tmp_path / "bindings" / "pay.binding.yaml").items[0]
    scanned = {**SCANNED, "target_id": item["target_id"], "annotations": definition.annotations, "tags": ("scanned",)}
    file = tmp_path / "written.binding.yaml"

    write_binding_file(file, resolve_display([scanned], [item]))

    [written] = yaml.safe_load(file.read_text())["bindings"]
    assert written["display"] == definition.metadata["display"]
    assert written["annotations"] == definition.annotations.to_dict()
    other = Registry()
    BindingLoader().load_bindings(file, other)
    assert other.get_definition(ID).metadata["display"] == definition.metadata["display"]


def test_bindings_come_as_a_list_by_id_or_as_a_file():
    item = {"module_id": ID, "display": {"alias": "x"}}

    for bindings in ([item], {ID: item}, {"bindings": [item]}, iter([item])):
        [resolved] = resolve_display([SCANNED], bindings)
        assert resolved.display.alias == "x"
