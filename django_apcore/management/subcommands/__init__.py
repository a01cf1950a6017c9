"""The sub-commands of `manage.py apcore`, one file for each group."""

from django_apcore.management.subcommands import (
    access,
    approvals,
    audit,
    calls,
    config,
    health,
    modules,
    new,
    outbox,
    tasks,
    usage,
)
from django_apcore.management.subcommands.base import Answer, Subcommand

SUBCOMMANDS: tuple[Subcommand, ...] = (
    *modules.SUBCOMMANDS,
    *new.SUBCOMMANDS,
    *calls.SUBCOMMANDS,
    *approvals.SUBCOMMANDS,
    *access.SUBCOMMANDS,
    *tasks.SUBCOMMANDS,
    *outbox.SUBCOMMANDS,
    *audit.SUBCOMMANDS,
    *config.SUBCOMMANDS,
    *health.SUBCOMMANDS,
    *usage.SUBCOMMANDS,
)

__all__ = ["SUBCOMMANDS", "Answer", "Subcommand"]
