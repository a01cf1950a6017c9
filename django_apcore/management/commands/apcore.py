"""`manage.py apcore`: what the admin and the REST endpoints do, for terminals and scripts."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import InterfaceError, OperationalError, ProgrammingError

from apcore.errors import ModuleError
from django_apcore.management.console import kept_clean
from django_apcore.management.subcommands import SUBCOMMANDS, Answer, Subcommand
from django_apcore.management.terminal import as_text


class Command(BaseCommand):
    """Looks for the sub-command, runs it, and prints what it answers as text or as JSON."""

    help = "Governed modules: find, call and approve them, set who may call, see how they do, verify the audit trail."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: CommandParser) -> None:
        """One sub-parser for each sub-command; those of a group get another level."""
        levels = parser.add_subparsers(dest="subcommand", required=True, metavar="COMMAND")
        groups: dict[str, Any] = {}
        for subcommand in SUBCOMMANDS:
            group, _, name = subcommand.name.rpartition(" ")
            if group and group not in groups:
                nested = levels.add_parser(group, help=subcommand.group_help)
                groups[group] = nested.add_subparsers(dest="action", required=True, metavar="ACTION")
            _add(groups.get(group, levels), name, subcommand)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Without the system checks for `config check`, which tells what they would stumble over."""
        is_check = (options.get("subcommand"), options.get("action")) == ("config", "check")
        return super().execute(*args, **{**options, "skip_checks": options.get("skip_checks", False) or is_check})

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the sub-command. The exit status is the answer's, or 1 for an error."""
        with kept_clean(options["verbosity"]):
            status = self._answer(options)
        if status:
            sys.exit(status)

    def _answer(self, options: dict[str, Any]) -> int:
        subcommand: Subcommand = options["run"]
        try:
            answer = subcommand.run(options)
        except (InterfaceError, OperationalError, ProgrammingError) as error:
            raise CommandError(f"The database does not answer as it should: {error}. Was it migrated?") from error
        except ModuleError as error:
            if options["json"]:
                answer = Answer(error.to_dict(), [], status=1)
            else:
                raise CommandError(f"{error.message} [{error.code}]") from None
        if answer.stream is not None:
            for line in answer.stream:
                self.stdout.write(line, ending="")
            return 0
        shown = _as_json(answer.data) if options["json"] else as_text(answer.lines, is_drawn=self._is_drawn(options))
        self.stdout.write(shown)
        return answer.status

    def _is_drawn(self, options: dict[str, Any]) -> bool:
        return self.stdout.isatty() and not options["no_color"]


def _add(level: Any, name: str, subcommand: Subcommand) -> None:
    parser: ArgumentParser = level.add_parser(name, help=subcommand.help, description=subcommand.help)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=subcommand)
    subcommand.add_arguments(parser)


def _as_json(data: Any) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False, default=str)
