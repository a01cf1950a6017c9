"""Knows enough of the commands in the manual to say whether they would work."""

import re
import shlex
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from celery.bin.celery import celery as celery_command
from django.core.management import get_commands, load_command_class
from django.core.management.base import CommandError
from django.urls import Resolver404, resolve

from tests.docs.markdown import ROOT

_TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
_PLACEHOLDER = re.compile(r"\$[A-Z_]+|<[^>]+>")
_SOME_ID = "00000000-0000-0000-0000-000000000000"


def problem_of(line: str) -> str | None:
    """What is wrong with a command line, or None. A command that is not known here is a problem, too."""
    words = shlex.split(_PLACEHOLDER.sub(_SOME_ID, line), comments=True)
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words = words[1:]
    check = _CHECKS.get(words[0])
    return check(words[1:]) if check else "the tests do not know this command"


def _make(arguments: Sequence[str]) -> str | None:
    unknown = [word for word in arguments if "=" not in word and word not in _TARGETS]
    return f"there is no target {unknown[0]}" if unknown else None


def _python(arguments: Sequence[str]) -> str | None:
    if arguments[0] == "manage.py":
        return _manage(arguments[1], arguments[2:])
    if arguments[0] == "-m":
        file = ROOT / arguments[1].replace(".", "/")
        return None if file.is_dir() or file.with_suffix(".py").is_file() else f"there is no module {arguments[1]}"
    return None if (ROOT / arguments[0]).is_file() else f"there is no file {arguments[0]}"


def _manage(name: str, arguments: Sequence[str]) -> str | None:
    app = get_commands().get(name)
    if app is None:
        return f"there is no management command {name}"
    command = load_command_class(app, name) if isinstance(app, str) else app
    try:
        command.create_parser("manage.py", name).parse_args(arguments)
    except (CommandError, SystemExit) as error:
        return f"arguments: {error}"
    return None


def _curl(arguments: Sequence[str]) -> str | None:
    urls = [word for word in arguments if word.startswith(("http://", "https://"))]
    if len(urls) != 1:
        return "one URL is wanted"
    try:
        resolve(urlsplit(urls[0]).path)
    except Resolver404:
        return "no view answers there"
    return None


def _celery(arguments: Sequence[str]) -> str | None:
    named = [word for word in arguments if word in celery_command.commands]
    return None if named else "there is no such Celery command"


def _anything(arguments: Sequence[str]) -> str | None:
    return None


_CHECKS: dict[str, Callable[[Sequence[str]], str | None]] = {
    "make": _make,
    "python": _python,
    "curl": _curl,
    "celery": _celery,
    **dict.fromkeys(("pip", "export", "cd", "git", "createdb", "django-admin", "open"), _anything),
}
