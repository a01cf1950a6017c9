import json

import pytest
from jsonschema import Draft202012Validator

from apcore.errors import InvalidInputError, ModuleNotFoundError
from apcore.modules import ModuleAnnotations, module
from apcore.registry import Registry, to_a2a_skill, to_openai_function
from apcore.schema import to_strict_schema

INPUT = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "description": "Recipient", "x-llm-description": "One address, never a list"},
        "body": {"type": "string", "description": "Text", "default": "", "x-sensitive": True},
    },
    "required": ["to"],
}
OUTPUT = {"type": "object", "properties": {"id": {"type": "string", "x-examples": ["a"]}}}


class SendEmail:
    """The documented sample."""

    name = "Send email"
    description = "Send emails via SMTP"
    tags = ("email",)
    annotations = ModuleAnnotations(readonly=False, idempotent=True, requires_approval=True, open_world=True)
    examples = ({"title": "Short", "inputs": {"to": "a@example.org"}},)
    input_schema = INPUT
    output_schema = OUTPUT

    def execute(self, inputs, context):
        return {}


MODULE_ID = "executor.email.send_email"
TOOL_NAME = "executor_email_send_email"


@pytest.fixture
def registry():
    registry = Registry()
    registry.register(MODULE_ID, SendEmail)
    return registry


@pytest.mark.req("R-4.17-01", "R-4.17-07", "R-4.16-11", "R-12.2-11")
def test_generic_is_the_default_and_changes_nothing(registry):
    exported = registry.export_schema(MODULE_ID)

    assert (exported["input_schema"], exported["output_schema"]) == (INPUT, OUTPUT)
    assert exported["annotations"]["requires_approval"] is True
    assert exported == registry.export_schema(MODULE_ID, False, "generic") == registry.describe(MODULE_ID).to_dict()


@pytest.mark.req("R-4.17-07", "R-12.2-11")
@pytest.mark.parametrize("profile", ["generic", "mcp"])
def test_who_changes_an_export_changes_nothing_else(registry, profile):
    exported = registry.export_schema(MODULE_ID, profile=profile)
    exported["inputSchema" if profile == "mcp" else "input_schema"]["properties"]["to"]["type"] = "integer"
    registry.describe(MODULE_ID).input_schema["properties"].clear()
    registry.describe(MODULE_ID).metadata["added"] = True

    assert registry.get_definition(MODULE_ID).input_schema == INPUT
    assert registry.get_definition(MODULE_ID).metadata == {}


@pytest.mark.req("R-4.16-11", "R-4.3-04")
def test_strict_converts_the_schemas_and_keeps_the_description_for_people(registry):
    exported = registry.export_schema(MODULE_ID, strict=True)

    assert exported["input_schema"] == to_strict_schema(INPUT)
    assert exported["output_schema"] == to_strict_schema(OUTPUT)
    assert exported["input_schema"]["properties"]["to"] == {"type": "string", "description": "Recipient"}


@pytest.mark.req("R-4.17-02", "R-4.17-03", "R-14.D-01")
def test_mcp(registry):
    assert registry.export_schema(MODULE_ID, profile="mcp") == {
        "name": MODULE_ID,
        "description": "Send emails via SMTP",
        "inputSchema": INPUT,
        "outputSchema": OUTPUT,
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": True,
        },
    }
    assert registry.export_schema(MODULE_ID, True, "mcp")["inputSchema"] == to_strict_schema(INPUT)


@pytest.mark.parametrize("profile", ["mcp", "anthropic"])
def test_others_read_null_where_this_protocol_says_nullable(profile):
    @module(id="shop.find")
    def find(name: str | None, sizes: list[int | None] | None = None) -> dict[str, str | None]:
        """Find."""
        return {"name": name}

    registry = Registry()
    registry.register("shop.find", find)
    exported = registry.export_schema("shop.find", profile=profile)
    inputs = exported["inputSchema" if profile == "mcp" else "input_schema"]

    assert Draft202012Validator(inputs).is_valid({"name": None, "sizes": [1, None]})
    assert inputs["properties"]["name"] == {"type": ["string", "null"]}
    assert registry.export_schema("shop.find")["input_schema"]["properties"]["name"]["nullable"] is True
    assert "nullable" not in str(exported)


@pytest.mark.req("R-4.17-04", "R-4.17-05", "R-4.3-02", "R-14.D-03")
def test_openai(registry):
    assert registry.export_schema(MODULE_ID, profile="openai") == {
        "name": TOOL_NAME,
        "description": "Send emails via SMTP",
        "parameters": {
            "type": "object",
            "properties": {
                "to": {"type": "string", "description": "One address, never a list"},
                "body": {"type": ["string", "null"], "description": "Text"},
            },
            "required": ["to", "body"],
            "additionalProperties": False,
        },
        "strict": True,
    }
    assert to_openai_function(registry.describe(MODULE_ID), agents_sdk=True)["needs_approval"] is True


@pytest.mark.req("R-4.17-05", "R-4.17-06", "R-4.3-02", "R-14.D-04")
def test_anthropic(registry):
    exported = registry.export_schema(MODULE_ID, profile="anthropic")

    assert exported == {
        "name": TOOL_NAME,
        "description": "Send emails via SMTP",
        "input_schema": {
            "type": "object",
            "properties": {
                "to": {"type": "string", "description": "One address, never a list"},
                "body": {"type": "string", "description": "Text", "default": ""},
            },
            "required": ["to"],
        },
        "input_examples": [{"to": "a@example.org"}],
    }
    strict = registry.export_schema(MODULE_ID, True, "anthropic")["input_schema"]
    assert strict == to_strict_schema(exported["input_schema"])


@pytest.mark.req("R-14.D-02")
def test_a2a(registry):
    assert to_a2a_skill(registry.describe(MODULE_ID)) == {
        "id": MODULE_ID,
        "name": "Send email",
        "description": "Send emails via SMTP",
        "tags": ["email"],
        "examples": ["Short"],
        "inputSchema": INPUT,
        "outputSchema": OUTPUT,
        "inputModes": ["application/json"],
        "outputModes": ["application/json"],
    }


@pytest.mark.req("R-4.3-03")
@pytest.mark.parametrize("profile", ["mcp", "openai", "anthropic", "generic"])
def test_a_lone_description_is_the_same_everywhere(registry, profile):
    exported = registry.export_schema(MODULE_ID, profile=profile)

    schema = next(exported[key] for key in ("inputSchema", "parameters", "input_schema") if key in exported)
    assert schema["properties"]["body"]["description"] == "Text"
    json.dumps(exported)


@pytest.mark.req("R-4.17-01", "R-4.16-12")
def test_what_does_not_exist_is_refused(registry):
    with pytest.raises(InvalidInputError, match="profile 'corba'"):
        registry.export_schema(MODULE_ID, profile="corba")
    with pytest.raises(ModuleNotFoundError):
        registry.export_schema("no.such.module")


@pytest.mark.req("R-4.17-08")
def test_two_modules_never_share_a_tool_name(registry):
    registry.register("executor.email_send.email", SendEmail)
    registry.register("executor.email_send_email", SendEmail)

    for profile in ("openai", "anthropic"):
        with pytest.raises(InvalidInputError, match="would both be exported") as caught:
            registry.export_schema(MODULE_ID, profile=profile)
    assert caught.value.details["tool_name"] == TOOL_NAME
    assert len(caught.value.details["module_ids"]) == 3
    assert registry.export_schema(MODULE_ID, profile="mcp")["name"] == MODULE_ID
    with pytest.raises(InvalidInputError):
        registry.module_id_of_tool(TOOL_NAME)

    registry.unregister("executor.email_send.email")
    registry.unregister("executor.email_send_email")
    assert registry.export_schema(MODULE_ID, profile="openai")["name"] == TOOL_NAME


@pytest.mark.req("R-4.17-08")
def test_a_tool_name_leads_back_to_its_module(registry):
    assert registry.module_id_of_tool(TOOL_NAME) == MODULE_ID

    registry.unregister(MODULE_ID)
    with pytest.raises(ModuleNotFoundError):
        registry.module_id_of_tool(TOOL_NAME)
