"""Fills the tables of the manual that would otherwise repeat the code: `<!-- generated: errors -->` and the like.

What stands between such a mark and `<!-- end -->` tells readers of the bare file where to look instead.
MkDocs calls `on_page_markdown` for every page (the hooks entry of mkdocs.yml).
"""

import ast
import inspect
import os
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import django

from apcore.errors import ModuleError
from apcore.events import CORE_EVENTS
from django_apcore import exceptions as _exceptions  # noqa: F401 - its errors belong into the table
from tests.requirements_report import collect_claims, compare, load_requirements

ROOT = Path(__file__).resolve().parent.parent
_MARK = re.compile(r"<!-- generated: ([a-z-]+) -->.*?<!-- end -->", re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    return _MARK.sub(lambda mark: TABLES[mark[1]](), markdown)


def errors() -> str:
    known = sorted({(each.code, each.http_status, each) for each in _subclasses(ModuleError)}, key=lambda row: row[:2])
    rows = [(f"`{code}`", str(status), _first_line(inspect.getdoc(error))) for code, status, error in known]
    return table(("code", "HTTP", "when"), rows)


def _subclasses(error: type[ModuleError]) -> Iterator[type[ModuleError]]:
    for each in error.__subclasses__():
        if each.__module__.startswith(("apcore.", "django_apcore.")) and "code" in vars(each):
            yield each
        yield from _subclasses(each)


def events() -> str:
    """The events of the framework, with their severities and payload keys."""
    rows = [
        (
            f"`{each.type}`",
            " / ".join(each.severities),
            ", ".join(f"`{key}`" for key in each.keys),
            each.emitted_by,
            each.description,
        )
        for each in CORE_EVENTS.values()
    ]
    return table(("type", "severity", "payload", "from", "when"), rows)


def settings() -> str:
    """The fields of ApcoreSettings: name, default, and the text below each."""
    rows = [(f"`{name.upper()}`", f"`{default}`", meaning) for name, default, meaning in _settings()]
    return table(("key", "default", "meaning"), rows)


def meanings_of_settings() -> dict[str, str]:
    """The text below each field of ApcoreSettings."""
    return {name: meaning for name, _, meaning in _settings()}


def _settings() -> list[tuple[str, str, str]]:
    source = (ROOT / "django_apcore" / "conf.py").read_text(encoding="utf-8")
    fields = next(node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)).body
    return [
        (field.target.id, ast.unparse(field.value), _one_line(text.value.value))
        for field, text in pairwise(fields)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and field.value is not None
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    ]


def commands() -> str:
    """The sub-commands of `manage.py apcore`, as their parsers describe them."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
    django.setup()
    subcommands = import_module("django_apcore.management.subcommands").SUBCOMMANDS  # not before Django is ready
    return table(("command", "what it does"), [(f"`{_usage(each)}`", each.help) for each in subcommands])


def _usage(subcommand: Any) -> str:
    parser = ArgumentParser(prog=subcommand.name, add_help=False)
    subcommand.add_arguments(parser)
    return _one_line(parser.format_usage().removeprefix("usage: "))


def requirements() -> str:
    report = compare(load_requirements(), collect_claims())
    rows = [(area.replace("_", " "), str(covered), str(total)) for area, (covered, total) in report.areas.items()]
    sums = ("**all**", str(len(report.covered)), str(len(report.covered) + len(report.missing)))
    return table(("area", "named by a test", "all"), [*rows, sums])


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(head), *rows]
    width = len(tuple(head))
    cells = [" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines]
    return "\n".join(f"| {line} |" for line in (cells[0], " | ".join(["---"] * width), *cells[1:]))


def _first_line(text: str | None) -> str:
    return (text or "").partition("\n")[0]


def _one_line(text: object) -> str:
    return " ".join(str(text).split())


TABLES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "errors": errors,
    "events": events,
    "requirements": requirements,
    "settings": settings,
}
