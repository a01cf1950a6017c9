"""Signs of life, written by those who live."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from django_apcore.models import Heartbeat
from django_apcore.services._database import alias
from django_apcore.services.verify import VerificationReport


def beat(name: str, details: Mapping[str, Any] | None = None) -> None:
    """Write down that something is there, or was done, now."""
    Heartbeat.objects.using(alias()).update_or_create(
        name=name[:255], defaults={"at": timezone.now(), "details": dict(details or {})}
    )


def forget_worker(worker: str) -> None:
    """A worker that stops on purpose is not missed."""
    Heartbeat.objects.using(alias()).filter(name=Heartbeat.name_of(worker)).delete()


def record_verification(report: VerificationReport) -> None:
    """Write down what the last verification of the whole audit trail found, for `health`."""
    beat(Heartbeat.AUDIT_VERIFIED, {"ok": report.ok, "entries": report.entries})
