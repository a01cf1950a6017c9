"""`tasks`: what workers were asked to do."""

from argparse import ArgumentParser
from typing import Any

from django_apcore import services
from django_apcore.management.subcommands.base import (
    Answer,
    Options,
    Subcommand,
    actor_of,
    add_user,
    fields,
    number,
    table,
)
from django_apcore.models import AsyncTask

_GROUP = "Asynchronous tasks."


def list_tasks(options: Options) -> Answer:
    """The latest tasks, newest first."""
    tasks = AsyncTask.objects.all()
    if options["status"]:
        tasks = tasks.filter(status=options["status"])
    rows = list(tasks[: options["limit"]])
    lines = table(
        [(row.pk, row.status, f"{row.progress} %", row.module_id) for row in rows],
        "TASK",
        "STATUS",
        "PROGRESS",
        "MODULE",
    )
    return Answer([_summary(row) for row in rows], lines)


def show(options: Options) -> Answer:
    """One task with what it was given and what it gave."""
    row = services.find_task(options["task_id"])
    data = {**_summary(row), "inputs": row.inputs_redacted, "result": row.result_redacted, "error": row.error}
    return Answer(data, fields(data))


def cancel(options: Options) -> Answer:
    """Ask for the end of a task."""
    row = services.cancel_task(options["task_id"], actor=actor_of(options))
    state = "asked to stop" if row.status == AsyncTask.Status.RUNNING else str(row.status)
    return Answer(_summary(row), [f"Task {row.pk} is {state}."])


def _summary(row: AsyncTask) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "status": str(row.status),
        "progress": row.progress,
        "message": row.progress_message,
        "module_id": row.module_id,
        "created_at": row.created_at.isoformat(),
        "cancel_requested": row.cancel_requested,
    }


def _list_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--status", choices=AsyncTask.Status.values)
    parser.add_argument("--limit", type=number, default=50)


def _show_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task_id")


def _cancel_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task_id")
    add_user(parser, required=True)


SUBCOMMANDS = (
    Subcommand("tasks list", "List tasks.", list_tasks, _list_arguments, _GROUP),
    Subcommand("tasks show", "Show one task.", show, _show_arguments, _GROUP),
    Subcommand("tasks cancel", "Cancel a task.", cancel, _cancel_arguments, _GROUP),
)
