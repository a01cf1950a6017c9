"""`health`: is everything there that calls and workers need?"""

from django_apcore import services
from django_apcore.management.subcommands.base import Answer, Options, Subcommand, table


def health(options: Options) -> Answer:
    """All checks; the exit status is 1 if one of them found an error."""
    report = services.check_health()
    rows = [(each.status, each.name, each.sentence) for each in report.findings]
    lines = table(rows, "STATUS", "CHECK", "WHAT WAS FOUND")
    return Answer(report.to_dict(), lines, status=int(report.status == "error"))


SUBCOMMANDS = (Subcommand("health", "Look whether databases, broker, workers and queues are well.", health),)
