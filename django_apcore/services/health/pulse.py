"""A worker says every few seconds that it is alive."""

import logging
import threading
from typing import Any, Final

from celery.signals import worker_ready, worker_shutdown
from django.db import DatabaseError, connections

from django_apcore.models import Heartbeat
from django_apcore.services.health.heartbeats import beat, forget_worker

logger = logging.getLogger("django_apcore.workers")

SECONDS: Final = 5.0


class Pulse:
    """Writes the sign of life of one worker, from a thread of its own, until it is stopped."""

    def __init__(self, worker: str, seconds: float = SECONDS) -> None:
        self._worker = worker
        self._seconds = seconds
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="apcore-pulse", daemon=True)

    def start(self) -> None:
        """Begin, at once."""
        self._thread.start()

    def stop(self) -> None:
        """End; a worker that stops on purpose is not missed."""
        self._stopped.set()
        self._thread.join(self._seconds)
        try:
            forget_worker(self._worker)
        except DatabaseError as error:
            logger.error("The worker leaves a sign of life behind (%s)", type(error).__name__)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                beat(f"{Heartbeat.WORKER}{self._worker}")
            except DatabaseError as error:
                logger.error("The worker cannot say that it is alive (%s)", type(error).__name__)
            finally:
                connections.close_all()
            self._stopped.wait(self._seconds)


def _start(sender: Any = None, **kwargs: Any) -> None:
    sender.apcore_pulse = Pulse(str(sender.hostname))
    sender.apcore_pulse.start()
    worker_shutdown.connect(lambda **_kwargs: sender.apcore_pulse.stop(), weak=False, dispatch_uid="apcore.pulse.stop")


worker_ready.connect(_start, weak=False, dispatch_uid="django_apcore.pulse")
