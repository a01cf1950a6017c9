"""Messages to the workers. They hold the ID of a row and nothing else."""

import logging
from uuid import UUID

from celery import current_app
from kombu.exceptions import OperationalError as BrokerError

from django_apcore.conf import get_settings

_ONCE_MORE = {"max_retries": 1, "interval_start": 0}
"""A connection of the pool may be from before the broker's last restart; more patience is not for a web request."""

logger = logging.getLogger("django_apcore.broker")


def send(task: str, row_id: UUID | str | None = None) -> None:
    """Send a task about one row, or about all that wait. A broker that is away is logged: the next dispatch reads the
    database again."""
    queue = get_settings().task_queue
    args = () if row_id is None else (str(row_id),)
    message = current_app.signature(task, args=args, options={"queue": queue} if queue else {})
    try:
        message.apply_async(retry=True, retry_policy=_ONCE_MORE)
    except (BrokerError, OSError) as error:
        logger.error(
            "The broker is away (%s): %s of %s waits for the next dispatch", type(error).__name__, task, row_id or "all"
        )
