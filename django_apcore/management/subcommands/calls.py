"""`call`, `validate` and `submit`: make a call, ask what it would do, or have a worker make it."""

import json
from argparse import ArgumentParser

from apcore.errors import ApprovalPendingError
from django_apcore import runtime, services
from django_apcore.management.subcommands.base import (
    Answer,
    Options,
    Subcommand,
    add_inputs,
    add_user,
    context_of,
    counted,
    inputs_of,
    module_id_of,
    number,
)


def call(options: Options) -> Answer:
    """Call a module. A call that needs an approval answers with the request that waits for it."""
    try:
        result = runtime.get().executor.call(module_id_of(options), inputs_of(options), context_of(options))
    except ApprovalPendingError as pending:
        lines = [f"{pending.message}: {pending.details.get('approval_id')}"]
        return Answer(pending.to_dict(), lines)
    return Answer(result, [json.dumps(result, indent=2, ensure_ascii=False)])


def validate(options: Options) -> Answer:
    """Check a call, and tell what it would change. The exit status is 1 if it would be refused."""
    found = runtime.get().executor.validate(module_id_of(options), inputs_of(options), context_of(options))
    lines = [f"{'ok' if check.passed else 'no':3} {check.check}{_why(check.error)}" for check in found.checks]
    lines += [f"!   {warning}" for check in found.checks for warning in check.warnings]
    if found.effect is not None:
        lines.append(f"{found.effect.provenance}: {counted(found.effect.total, 'change')}")
        lines += [f"    {change.summary}" for change in found.predicted_changes[: options["limit"]]]
    return Answer(found.to_dict(options["limit"]), lines, status=0 if found.valid else 1)


def submit(options: Options) -> Answer:
    """Have a worker make the call."""
    task = services.submit(module_id_of(options), inputs_of(options), context_of(options))
    return Answer({"task_id": str(task.pk), "status": str(task.status)}, [f"Task {task.pk} is {task.status}."])


def _why(error: dict[str, object] | None) -> str:
    return f": {error['message']}" if error else ""


def _call_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("module_id")
    add_inputs(parser)
    add_user(parser)


def _validate_arguments(parser: ArgumentParser) -> None:
    _call_arguments(parser)
    parser.add_argument("--limit", type=number, default=50, help="show at most so many changes")


SUBCOMMANDS = (
    Subcommand("call", "Call a module.", call, _call_arguments),
    Subcommand("validate", "Check a call and preview its changes; nothing is changed.", validate, _validate_arguments),
    Subcommand("submit", "Have a worker call a module.", submit, _call_arguments),
)
