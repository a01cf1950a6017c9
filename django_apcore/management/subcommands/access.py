"""`acl` and `toggle`: who may call what, and what is switched off."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import CommandError

from apcore.acl import ACL
from django_apcore import runtime, services
from django_apcore.conf import acl_conditions
from django_apcore.management.subcommands.base import (
    Answer,
    Options,
    Subcommand,
    add_user,
    context_of,
    counted,
    table,
    user_of,
)
from django_apcore.models import ACLRule, Toggle

_GROUP = "Access rules."


def list_rules(options: Options) -> Answer:
    """The rules of the database, in order."""
    rules = list(ACLRule.objects.all())
    data = [{"id": rule.pk, "position": rule.position, "enabled": rule.enabled, **rule.to_dict()} for rule in rules]
    rows = [
        (
            rule.position,
            rule.effect if rule.enabled else "(off)",
            _names(rule.callers),
            _names(rule.targets),
            rule.description,
        )
        for rule in rules
    ]
    return Answer(data, table(rows, "#", "EFFECT", "CALLERS", "TARGETS", "DESCRIPTION"))


def check(options: Options) -> Answer:
    """Whether a caller may call a module, and which rule says so. The exit status is 1 if not."""
    acl = runtime.get().acl
    if acl is None:
        return Answer({"allowed": True, "reason": "There is no access list."}, ["allow: there is no access list"])
    caller = None if options["caller"] == "@external" else options["caller"]
    if not isinstance(acl, ACL):
        reason = f"{type(acl).__name__}, an extension, decides when the call is made"
        return Answer({"allowed": None, "reason": reason}, [f"unknown: {reason}"], status=1)
    decision = acl.evaluate(caller, options["module_id"], context_of(options))
    data = {"allowed": decision.allowed, "effect": decision.effect, "reason": decision.reason}
    return Answer(data, [f"{decision.effect}: {decision.reason}"], status=0 if decision.allowed else 1)


def import_rules(options: Options) -> Answer:
    """Replace all rules by those of a file."""
    try:
        rules = ACL.load(options["file"], conditions=acl_conditions()).policy.rules
    except OSError as error:
        raise CommandError(f"{options['file']} cannot be read: {error.strerror}") from None
    saved = services.replace_rules([rule.to_dict() for rule in rules], actor=user_of(options))
    return Answer({"rules": len(saved)}, [f"In force: {counted(len(saved), 'rule')}."])


def export_rules(options: Options) -> Answer:
    """The enabled rules as an ACL file."""
    rules = [rule.to_dict() for rule in ACLRule.objects.filter(enabled=True)]
    document: dict[str, Any] = {"version": "1.0.0", "rules": rules}
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    if options["file"]:
        Path(options["file"]).write_text(text, encoding="utf-8")
        said = f"{counted(len(rules), 'rule')} written to {options['file']}."
        return Answer({"rules": len(rules), "file": options["file"]}, [said])
    return Answer(document, [text.rstrip()])


def toggle(options: Options) -> Answer:
    """Switch a module, or list what is switched off."""
    module_id, enabled = options["module_id"], options["enabled"]
    if module_id is None:
        rows = list(Toggle.objects.filter(enabled=False))
        data = [{"module_id": row.module_id, "reason": row.reason, "since": row.updated_at.isoformat()} for row in rows]
        return Answer(data, table([tuple(each.values()) for each in data], "OFF", "REASON", "SINCE"))
    runtime.get().registry.get_definition(module_id)
    if enabled is None:
        is_on = runtime.get().toggles.is_enabled(module_id)
        return Answer({"module_id": module_id, "enabled": is_on}, [f"{module_id} is {'on' if is_on else 'off'}."])
    row = services.toggle(module_id, enabled=enabled, actor=user_of(options), reason=options["reason"])
    return Answer(
        {"module_id": module_id, "enabled": row.enabled}, [f"{module_id} is {'on' if row.enabled else 'off'}."]
    )


def _names(patterns: list[str]) -> str:
    return " ".join(patterns)


def _check_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("module_id")
    parser.add_argument("--caller", default="@external", help="the calling module; @external where none calls")
    add_user(parser)


def _import_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file")
    add_user(parser)


def _export_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", nargs="?")


def _toggle_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("module_id", nargs="?")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--on", dest="enabled", action="store_const", const=True, help="switch it on")
    which.add_argument("--off", dest="enabled", action="store_const", const=False, help="switch it off")
    parser.add_argument("--reason", default="", help="why, for the audit trail")
    add_user(parser)


SUBCOMMANDS = (
    Subcommand("acl list", "List the rules.", list_rules, group_help=_GROUP),
    Subcommand("acl check", "Say whether a call is allowed, and why.", check, _check_arguments, _GROUP),
    Subcommand("acl import", "Replace the rules by those of a file.", import_rules, _import_arguments, _GROUP),
    Subcommand("acl export", "Print the rules, or write them to a file.", export_rules, _export_arguments, _GROUP),
    Subcommand("toggle", "Switch a module on or off, or list what is off.", toggle, _toggle_arguments),
)
