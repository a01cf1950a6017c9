"""Messages to the workers. They hold the ID of a row and nothing else."""

import logging
from uuid import UUID

from celery import current_app
from kombu.exceptions import OperationalError as BrokerError

from django_apcore.conf import get_settings

logger = logging.getLogger("django_apcore.broker")


def send(task: str, row_id: UUID | str) -> None:
    """Send a task about one row. A broker that is away is logged: the database is read again by the next dispatch."""
    queue = get_settings().task_queue
    message = current_app.signature(task, args=(str(row_id),), options={"queue": queue} if queue else {})
    try:
        message.apply_async(retry=False)
    except (BrokerError, OSError) as error:
        logger.error(
            "The broker is away (%s): %s of %s waits for the next dispatch", type(error).__name__, task, row_id
        )
