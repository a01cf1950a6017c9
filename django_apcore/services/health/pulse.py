"""A worker says every few seconds that it is alive."""

import logging
import threading
from typing import Any, Final

from celery.signals import worker_ready, worker_shutdown
from django.db import Error, connections
from django.utils import timezone

from django_apcore.models import Heartbeat
from django_apcore.services.health.heartbeats import beat, forget_worker

logger = logging.getLogger("django_apcore.workers")

SECONDS: Final = 5.0
SECONDS_TO_END: Final = 10.0
"""How long a stop waits for the beat that is under way: more than a busy database needs."""


class Pulse:
    """Writes the sign of life of one worker, from a thread of its own, until it is stopped."""

    def __init__(self, worker: str, seconds: float = SECONDS) -> None:
        self._worker = worker
        self._seconds = seconds
        self._since = timezone.now().isoformat()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="apcore-pulse", daemon=True)

    def start(self) -> None:
        """Begin, at once."""
        self._thread.start()

    def stop(self) -> None:
        """End; a worker that stops on purpose is not missed."""
        self._stopped.set()
        self._thread.join(SECONDS_TO_END)  # else its last beat would outlive what is forgotten here
        try:
            forget_worker(self._worker)
        except Error as error:
            logger.error("The worker leaves a sign of life behind (%s)", type(error).__name__)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                beat(Heartbeat.name_of(self._worker), {"since": self._since})
            except Exception as error:  # noqa: BLE001 - a pulse that ends at the first trouble says that the worker is dead
                logger.error("The worker cannot say that it is alive (%s)", type(error).__name__)
            finally:
                connections.close_all()
            self._stopped.wait(self._seconds)


def _start(sender: Any = None, **kwargs: Any) -> None:
    """`sender` is the worker's consumer; the worker itself says later that it ends."""
    worker = sender.controller
    worker.apcore_pulse = Pulse(str(worker.hostname))
    worker.apcore_pulse.start()


def _stop(sender: Any = None, **kwargs: Any) -> None:
    if pulse := getattr(sender, "apcore_pulse", None):
        pulse.stop()


worker_ready.connect(_start, dispatch_uid="django_apcore.pulse")
worker_shutdown.connect(_stop, dispatch_uid="django_apcore.pulse")
