"""Held messages become rows of the transaction that they belong to, and leave from there."""

import uuid
from collections.abc import Sequence
from functools import partial

from django.db import router, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from django_apcore.effects.active import HeldMessage
from django_apcore.effects.held.background import send_task_again
from django_apcore.effects.held.mail import send_mail_again
from django_apcore.models import OutboxMessage
from django_apcore.secrets import decrypt, encrypt
from django_apcore.signals import outbox_written


def write_outbox(
    held: Sequence[HeldMessage], enrolled: Sequence[BaseDatabaseWrapper], approval_id: uuid.UUID | str | None
) -> None:
    """Store the messages for delivery after the commit. Raises RuntimeError where they would not share its fate."""
    if not held:
        return
    alias = router.db_for_write(OutboxMessage)
    if all(alias != connection.alias for connection in enrolled):
        raise RuntimeError(f"The outbox is in database {alias!r}, which takes no part in this run.")
    cause = approval_id or uuid.uuid4()
    OutboxMessage.objects.using(alias).bulk_create(
        OutboxMessage(
            kind=message.kind,
            payload_encrypted=encrypt(message.payload),
            idempotency_key=f"{cause}:{position}",
            approval_id=approval_id,
            position=position,
        )
        for position, message in enumerate(held)
    )
    transaction.on_commit(partial(outbox_written.send_robust, sender=OutboxMessage), using=alias)


def send_again(message: OutboxMessage) -> None:
    """Send what was held. Raises whatever the mail backend or the broker raises, UndecryptableError with lost keys."""
    payload = decrypt(message.payload_encrypted)
    if message.kind == OutboxMessage.Kind.MAIL:
        send_mail_again(payload, message.idempotency_key)
    else:
        send_task_again(payload)
