"""Remove delivered: messages of the outbox that have left, once nobody needs to look them up any more."""

from collections import Counter
from datetime import datetime, timedelta

from django.utils import timezone

from django_apcore.models import OutboxMessage
from django_apcore.services._database import alias, atomic
from django_apcore.services.audit import append


def remove_delivered(*, older_than: timedelta, batch: int = 1000) -> int:
    """Delete messages that were delivered so long ago. Returns how many there were.

    What waits stays, and so does what was given up: somebody may want to try it again. `batch` messages go in one
    transaction, with an audit entry that says how many of which kinds went, and until when they were delivered.
    """
    until = timezone.now() - older_than
    removed = 0
    while number := _remove(until, batch):
        removed += number
    return removed


def _remove(until: datetime, batch: int) -> int:
    messages = OutboxMessage.objects.using(alias())
    with atomic():
        # Locked, so that of two who clean at once only one counts a message.
        old = messages.select_for_update().filter(delivered_at__lt=until).order_by("delivered_at")
        kinds = dict(old.values_list("pk", "kind")[:batch])
        if kinds:
            messages.filter(pk__in=kinds).delete()
            known = {"until": until.isoformat(), "messages": len(kinds), "kinds": dict(Counter(kinds.values()))}
            append("outbox.cleaned", subject="outbox", data=known)
    return len(kinds)
