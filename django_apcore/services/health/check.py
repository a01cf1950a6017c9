"""Check health: everything, or only whether the process can do anything at all."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import Error
from django.utils import timezone

from django_apcore.services.health import backlogs, messaging
from django_apcore.services.health.databases import databases, migrations
from django_apcore.services.health.finding import ORDER, Finding, Status


@dataclass(frozen=True, slots=True)
class HealthReport:
    """All findings; the worst of them is the status of the whole."""

    at: datetime
    findings: tuple[Finding, ...]

    @property
    def status(self) -> Status:
        """ok, warn or error."""
        return max((each.status for each in self.findings), key=ORDER.index, default="ok")

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON."""
        checks = [each.to_dict() for each in self.findings]
        return {"status": self.status, "at": self.at.isoformat(), "checks": checks}


def check_health() -> HealthReport:
    """Look at everything. Takes some seconds where something hangs, and never raises."""
    return HealthReport(timezone.now(), tuple(_all()))


def is_alive() -> bool:
    """Whether every database can be used: without them no call can be made."""
    return all(each.status == "ok" for each in databases())


def _all() -> Iterator[Finding]:
    found = list(databases())
    yield from found
    yield messaging.broker()
    if any(each.status == "error" for each in found):
        return  # the rest asks the databases
    yield from migrations()
    for name, find in _IN_THE_DATABASE.items():
        try:
            yield find()
        except Error as error:
            yield Finding(name, "error", f"The tables cannot be read ({type(error).__name__}): were they migrated?")


_IN_THE_DATABASE: dict[str, Callable[[], Finding]] = {
    "workers": messaging.workers,
    "queue": backlogs.queue,
    "approvals": backlogs.approvals,
    "outbox": backlogs.outbox,
    "audit": backlogs.audit,
}
