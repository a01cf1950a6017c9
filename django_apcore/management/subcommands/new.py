"""`new`: a first version of a module, with its test."""

from argparse import ArgumentParser
from pathlib import Path

from django_apcore import runtime
from django_apcore.management.scaffold import plan_module
from django_apcore.management.subcommands.base import Answer, Options, Subcommand


def new(options: Options) -> Answer:
    """Write a module that works and a test that passes; nothing that exists is overwritten."""
    scaffold = plan_module(options["module_id"], runtime.get_registry().list(include_hidden=True))
    scaffold.write()
    data = {"module_id": options["module_id"], "module": str(scaffold.module), "test": str(scaffold.test)}
    lines = [f"Wrote {_short(scaffold.module)}", f"Wrote {_short(scaffold.test)}", "Say in them what it does."]
    return Answer(data, lines)


def _short(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("module_id", help="the label of an app and names below it: store.orders.cancel")


SUBCOMMANDS = (Subcommand("new", "Write a new module and its test.", new, _arguments),)
