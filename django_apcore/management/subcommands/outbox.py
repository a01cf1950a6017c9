"""`outbox`: what leaves after a commit."""

from argparse import ArgumentParser

from django_apcore import services
from django_apcore.management.subcommands.base import Answer, Options, Subcommand, counted, days

_GROUP = "Mail, tasks and webhooks that leave after a commit."


def clean(options: Options) -> Answer:
    """Delete messages that were delivered long ago. What waits or was given up stays."""
    count = services.remove_delivered(older_than=options["older_than"])
    return Answer({"messages": count}, [f"{counted(count, 'message')} deleted."])


def _clean_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--older-than", type=days, required=True, metavar="DAYS", help="since a message was delivered")


SUBCOMMANDS = (Subcommand("outbox clean", "Delete delivered messages.", clean, _clean_arguments, _GROUP),)
