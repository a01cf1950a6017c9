"""Does the broker take messages, and does anybody work them off?"""

import tempfile
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from celery import current_app
from django.utils import timezone

from django_apcore.models import Heartbeat
from django_apcore.services._database import alias
from django_apcore.services.health.finding import Finding, within

_SECONDS = 4.0
ALIVE = timedelta(seconds=30)
"""A worker that has not been heard of for longer counts as gone."""


def broker() -> Finding:
    """A real connection, or for a broker in files a real file."""
    hint = "The broker cannot be reached: approved calls and tasks wait until it is. Look at CELERY_BROKER_URL."
    return within(_SECONDS, "broker", _reach, hint)


def workers() -> Finding:
    """Which workers were heard of lately."""
    rows = Heartbeat.objects.using(alias()).filter(name__startswith=Heartbeat.WORKER)
    alive = sorted(_worker(row) for row in rows.filter(at__gte=timezone.now() - ALIVE))
    if alive:
        return Finding("workers", "ok", f"Workers alive: {', '.join(alive)}.", {"alive": alive})
    last = rows.order_by("-at").first()
    seen = f"the last one was heard of at {last.at.isoformat(timespec='seconds')}" if last else "none was ever heard of"
    sentence = f"No worker is alive ({seen}): start one with celery -A … worker, or approved calls wait for ever."
    return Finding("workers", "error", sentence, {"alive": []})


def _reach() -> Finding:
    transport = current_app.connection_for_write().transport_cls
    if transport == "memory":
        return Finding("broker", "warn", "The broker is in memory: no worker will ever see a message. Set another one.")
    if transport == "filesystem":
        for folder in sorted(set(_folders())):
            with tempfile.TemporaryFile(dir=folder) as probe:
                probe.write(b".")
        return Finding("broker", "ok", "The folder of messages can be written.", {"transport": "filesystem"})
    with current_app.connection_for_write(connect_timeout=_SECONDS / 2) as connection:
        connection.connect()
        connection.default_channel  # noqa: B018 - opened, which needs an answer
    return Finding("broker", "ok", "The broker answers.", {"transport": str(transport)})


def _folders() -> Iterator[str]:
    options: dict[str, Any] = current_app.conf.broker_transport_options
    for name in ("data_folder_in", "data_folder_out"):
        yield str(options.get(name, name))


def _worker(row: Heartbeat) -> str:
    return row.name.removeprefix(Heartbeat.WORKER)
