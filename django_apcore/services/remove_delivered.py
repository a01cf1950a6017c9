"""Remove delivered: messages of the outbox that have left, once nobody needs to look them up any more."""

from datetime import timedelta

from django.utils import timezone

from django_apcore.models import OutboxMessage
from django_apcore.services._database import alias


def remove_delivered(*, older_than: timedelta, batch: int = 1000) -> int:
    """Delete messages that were delivered so long ago, `batch` at a time. Returns how many there were.

    What waits stays, and so does what was given up: somebody may want to try it again.
    """
    old = OutboxMessage.objects.using(alias()).filter(delivered_at__lt=timezone.now() - older_than)
    removed = 0
    while keys := list(old.values_list("pk", flat=True)[:batch]):
        removed += OutboxMessage.objects.using(alias()).filter(pk__in=keys).delete()[0]
    return removed
