"""`list` and `describe`: which modules there are."""

import json
from argparse import ArgumentParser

from django_apcore import runtime
from django_apcore.management.subcommands.base import Answer, Options, Subcommand, fields, table


def list_modules(options: Options) -> Answer:
    """All modules, with what matters about calling them."""
    current = runtime.get()
    definitions = [current.registry.get_definition(name) for name in current.registry.list(prefix=options["prefix"])]
    data = [
        {
            "module_id": each.module_id,
            "description": each.description,
            "requires_approval": each.requires_approval,
            "effect": each.effect,
            "enabled": current.toggles.is_enabled(each.module_id),
        }
        for each in definitions
    ]
    rows = [
        (
            each["module_id"],
            "approval" if each["requires_approval"] else "",
            each["effect"],
            "" if each["enabled"] else "off",
            each["description"],
        )
        for each in data
    ]
    return Answer(data, table(rows, "MODULE", "NEEDS", "EFFECT", "", "DESCRIPTION"))


def describe(options: Options) -> Answer:
    """Everything about one module."""
    definition = runtime.get().registry.get_definition(options["module_id"])
    data = {
        "module_id": definition.module_id,
        "description": definition.description,
        "documentation": definition.documentation,
        "version": definition.version,
        "tags": list(definition.tags),
        "annotations": definition.annotations.to_dict(),
        "metadata": dict(definition.metadata),
        "effect": definition.effect,
        "requires_approval": definition.requires_approval,
        "input_schema": dict(definition.input_schema),
        "output_schema": dict(definition.output_schema),
        "content_hash": definition.content_hash,
    }
    shown = {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in data.items()}
    return Answer(data, fields(shown))


def _prefix(parser: ArgumentParser) -> None:
    parser.add_argument("prefix", nargs="?", help="only modules whose ID starts so")


def _module_id(parser: ArgumentParser) -> None:
    parser.add_argument("module_id")


SUBCOMMANDS = (
    Subcommand("list", "List the modules.", list_modules, _prefix),
    Subcommand("describe", "Describe one module.", describe, _module_id),
)
