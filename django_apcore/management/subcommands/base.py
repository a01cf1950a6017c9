"""What a sub-command is, and how it reads its arguments and lays out its answer."""

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management.base import CommandError

from apcore.context import Context
from apcore.discovery import display_of
from django_apcore import runtime
from django_apcore.conf import MOST_DAYS
from django_apcore.context import identity_for
from django_apcore.management.terminal import Table

Options = Mapping[str, Any]

_LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True)
class Answer:
    """What a sub-command found: as data for `--json`, as lines and tables for people, and the exit status.

    What may be longer than memory is a `stream` of lines, printed as it comes, with and without `--json`.
    """

    data: Any
    lines: Sequence[str | Table]
    status: int = 0
    stream: Iterable[str] | None = None


def _nothing(parser: ArgumentParser) -> None:
    """Most sub-commands of a list take no arguments."""


@dataclass(frozen=True, slots=True)
class Subcommand:
    """One sub-command. A name of two words is an action of a group: `approvals list`."""

    name: str
    help: str
    run: Callable[[Options], Answer]
    add_arguments: Callable[[ArgumentParser], None] = field(default=_nothing)
    group_help: str = ""


def add_user(parser: ArgumentParser, *, required: bool = False) -> None:
    """`--as USERNAME`: on whose behalf."""
    parser.add_argument("--as", dest="username", metavar="USERNAME", required=required, help="on behalf of this user")


def add_inputs(parser: ArgumentParser) -> None:
    """`--inputs JSON`, `--inputs @FILE` or `--inputs -`."""
    parser.add_argument(
        "--inputs", default="{}", metavar="JSON", help="a JSON object, @FILE to read one, or - for standard input"
    )


def number(text: str) -> int:
    """An argument that says how many. Raises ArgumentTypeError."""
    if not text.isascii() or not text.isdecimal() or len(text) > _LONGEST_NUMBER:
        raise ArgumentTypeError(f"{text!r} is no number from 0 on")
    return int(text)


def days(text: str) -> timedelta:
    """An argument that says how many days, with or without a fraction. Raises ArgumentTypeError."""
    try:
        given = float(text)
    except ValueError:
        given = -1.0
    if not 0 <= given <= MOST_DAYS:
        raise ArgumentTypeError(f"{text!r} is no number of days from 0 to {MOST_DAYS}")
    return timedelta(days=given)


def user_of(options: Options) -> User | None:
    """The user of `--as`. Raises CommandError for an unknown one."""
    username = options["username"]
    if username is None:
        return None
    users = get_user_model()
    try:
        return users.objects.get_by_natural_key(username)
    except users.DoesNotExist:
        raise CommandError(f"There is no user {username!r}.") from None


def actor_of(options: Options) -> User:
    """The user of a required `--as`."""
    user = user_of(options)
    assert user is not None
    return user


def context_of(options: Options) -> Context:
    """A top-level context for the user of `--as`; without one the caller is anonymous."""
    user = user_of(options)
    return Context.create(identity=identity_for(user, via="command") if user else None)


def inputs_of(options: Options) -> dict[str, Any]:
    """The inputs. Raises CommandError for what is no JSON object."""
    given: str = options["inputs"]
    try:
        if given == "-":
            given = sys.stdin.read()
        elif given.startswith("@"):
            given = Path(given[1:]).read_text(encoding="utf-8")
        inputs = json.loads(given)
    except (OSError, ValueError) as error:
        raise CommandError(f"--inputs cannot be read: {error}") from None
    if not isinstance(inputs, dict):
        raise CommandError("--inputs must be a JSON object.")
    return inputs


def module_id_of(options: Options) -> str:
    """The module that is meant, by its ID or by its alias for the command line (§5.13).

    Raises CommandError for an alias of several modules; that a module does not exist is for others to say.
    """
    registry, name = runtime.get().registry, options["module_id"]
    if registry.has(name):
        return str(name)
    named = registry.find(lambda each: display_of(each, "cli").alias == name, include_hidden=True)
    if len(named) > 1:
        raise CommandError(f"{name!r} may be any of {', '.join(named)}.")
    return named[0] if named else str(name)


def counted(number: int, noun: str) -> str:
    """`1 rule`, `2 rules`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def table(rows: Sequence[Sequence[object]], *headings: str) -> list[str | Table]:
    """Rows under headings; a line that says so where there are none."""
    return [Table(headings, tuple(tuple(map(str, row)) for row in rows))] if rows else ["(none)"]


def fields(values: Mapping[str, object]) -> list[str]:
    """Names and values as aligned text."""
    width = max(map(len, values), default=0)
    return [f"{name.ljust(width)}  {value}" for name, value in values.items()]
