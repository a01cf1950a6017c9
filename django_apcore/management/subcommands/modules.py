"""`list`, `describe` and `export`: which modules there are."""

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from typing import Any

from apcore.discovery import display_of
from apcore.modules import ModuleDefinition
from django_apcore import runtime
from django_apcore.management.subcommands.base import Answer, Options, Subcommand, fields, module_id_of, table
from django_apcore.management.terminal import Table

PROFILE_HELP = "mcp, openai, anthropic or generic (the default)"


def list_modules(options: Options) -> Answer:
    """All modules, with what matters about calling them."""
    registry = runtime.get().registry
    names = registry.list(prefix=options["prefix"], tags=options["tags"], include_hidden=options["all"])
    data = [_summary(registry.get_definition(name)) for name in names]
    rows = [
        (
            each["module_id"],
            "" if each["alias"] == each["module_id"] else each["alias"],
            "approval" if each["requires_approval"] else "",
            each["effect"],
            "" if each["enabled"] else "off",
            each["description"],
        )
        for each in data
    ]
    return Answer(data, table(rows, "MODULE", "ALIAS", "NEEDS", "EFFECT", "", "DESCRIPTION"))


def describe(options: Options) -> Answer:
    """Everything about one module."""
    registry, module_id = runtime.get().registry, module_id_of(options)
    definition = registry.get_definition(module_id)
    display = display_of(definition, "cli")
    data = {
        **registry.describe(module_id).to_dict(),
        "effect": definition.effect,
        "requires_approval": definition.requires_approval,
        "enabled": runtime.get().toggles.is_enabled(module_id),
        "timeout_ms": definition.timeout_ms,
        "dependencies": [each.module_id for each in definition.dependencies],
        "content_hash": definition.content_hash,
    }
    own = {name: _shown(value) for name, value in data.items() if name not in _IN_TABLES and value not in _EMPTY}
    presented = {"alias": display.alias, **({"guidance": display.guidance} if display.guidance else {})}
    lines: list[str | Table] = [*fields({**presented, **own})]
    for name, heading in (("input_schema", "INPUT"), ("output_schema", "OUTPUT")):
        properties = list(_properties(data[name]))
        lines += ["", *table(properties or [("(any)", _type(data[name]), "", "")], heading, "TYPE", "", "DESCRIPTION")]
    for example in data["examples"]:
        lines += ["", f"Example: {example['title']}", json.dumps(example["inputs"], indent=2, ensure_ascii=False)]
    return Answer(data, lines)


def export(options: Options) -> Answer:
    """One module, or all of them, in the form of a profile."""
    registry = runtime.get().registry

    def exported(module_id: str) -> dict[str, Any]:
        return registry.export_schema(module_id, strict=options["strict"], profile=options["profile"])

    data = (
        [exported(name) for name in registry.list()]
        if options["module_id"] is None
        else exported(module_id_of(options))
    )
    return Answer(data, [json.dumps(data, indent=2, ensure_ascii=False, default=str)])


def _summary(definition: ModuleDefinition) -> dict[str, Any]:
    """As the command line presents it (§5.13.8)."""
    display = display_of(definition, "cli")
    return {
        "module_id": definition.module_id,
        "alias": display.alias,
        "group": display.group,
        "description": display.description,
        "tags": list(definition.tags),
        "requires_approval": definition.requires_approval,
        "effect": definition.effect,
        "enabled": runtime.get().toggles.is_enabled(definition.module_id),
    }


_IN_TABLES = ("input_schema", "output_schema", "examples")
_EMPTY: tuple[object, ...] = (None, "", [], {})


def _shown(value: object) -> object:
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, Mapping | list) else value


def _properties(schema: Mapping[str, Any]) -> Iterable[tuple[str, str, str, str]]:
    """The properties of a schema: name, type, whether it is required, description."""
    for name, each in schema.get("properties", {}).items():
        required = "required" if name in schema.get("required", ()) else ""
        said = each if isinstance(each, Mapping) else {}
        yield name, _type(said), required, str(said.get("description", ""))


def _type(schema: Mapping[str, Any]) -> str:
    """In one word or a few, for people; the schema itself is in the JSON."""
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[keyword]))
    given = schema.get("type", "any")
    return " or ".join(given) if isinstance(given, list) else str(given)


def _list_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("prefix", nargs="?", help="only modules whose ID starts so")
    parser.add_argument("--tag", dest="tags", action="append", help="only modules with this tag; several mean all")
    parser.add_argument("--all", action="store_true", help="modules that are not to be discovered, too")


def _module_id(parser: ArgumentParser) -> None:
    parser.add_argument("module_id")


def _export_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("module_id", nargs="?", help="all modules if it is left out")
    parser.add_argument("--profile", help=PROFILE_HELP)
    parser.add_argument("--strict", action="store_true", help="schemas in which every property is required")


SUBCOMMANDS = (
    Subcommand("list", "List the modules.", list_modules, _list_arguments),
    Subcommand("describe", "Describe one module.", describe, _module_id),
    Subcommand("export", "Write modules as the tools of other protocols.", export, _export_arguments),
)
