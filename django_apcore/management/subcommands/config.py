"""`config`: which values count, where each comes from, and what is wrong with them. Secrets are not shown."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from apcore.config import Config
from apcore.errors import ModuleError
from django_apcore import runtime
from django_apcore.conf import get_settings, load_config
from django_apcore.management.subcommands.base import Answer, Options, Subcommand, counted, table
from django_apcore.services import sensitive_keys

_GROUP = "The configuration."
_WIDTH = 60


def show(options: Options) -> Answer:
    """Every value with its source: default, django, settings, mount, file, environment or override."""
    config = runtime.get().app.config
    values = (
        {"key": key, "value": value, "source": str(source)} for key, value, source in config.shown(sensitive_keys())
    )
    chosen = [each for each in values if _is_chosen(each, options)]
    rows = [(each["key"], _short(each["value"]), each["source"]) for each in chosen]
    data = {"file": None if config.file is None else str(config.file), "mode": config.mode, "values": chosen}
    return Answer(data, [_told_file(config), "", *table(rows, "KEY", "VALUE", "FROM")])


def check(options: Options) -> Answer:
    """Read the configuration anew, and tell everything that is wrong with it. The exit status is 1 if anything is."""
    try:
        config = load_config()
        get_settings()
    except ModuleError as error:
        faults = error.details.get("errors") or [{"message": error.message}]
        data = {"ok": False, "code": error.code, "file": error.details.get("file"), "errors": faults, "doubts": []}
        return Answer(data, [*map(_told, faults), "", f"{counted(len(faults), 'error')}."], status=1)
    doubts = config.doubts()
    file = None if config.file is None else str(config.file)
    data = {"ok": True, "file": file, "mode": config.mode, "errors": [], "doubts": doubts}
    return Answer(data, [_told_file(config), *doubts, "No errors."])


def _is_chosen(value: Mapping[str, Any], options: Options) -> bool:
    prefix = options["prefix"]
    is_below = prefix is None or value["key"] == prefix or value["key"].startswith(f"{prefix}.")
    return is_below and not (options["changed"] and value["source"] in ("default", "django"))


def _told_file(config: Config) -> str:
    return (
        "No configuration file." if config.file is None else f"Configuration file: {config.file} ({config.mode} mode)"
    )


def _told(fault: Mapping[str, str]) -> str:
    return fault["message"] + (f" (from {fault['source']})" if "source" in fault else "")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _choice(parser: ArgumentParser) -> None:
    parser.add_argument("prefix", nargs="?", metavar="KEY", help="only this key, section or namespace")
    parser.add_argument("--changed", action="store_true", help="only what is not at its default")


SUBCOMMANDS = (
    Subcommand("config show", "Print the values that count, and where each comes from.", show, _choice, _GROUP),
    Subcommand("config check", "Tell everything that is wrong with the configuration.", check, group_help=_GROUP),
)
