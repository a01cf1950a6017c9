"""Save: who is told of which events, over HTTP."""

from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db.models import Count, Q

from apcore.errors import InvalidInputError
from apcore.events.webhooks import resolved
from django_apcore.conf import get_settings
from django_apcore.models import OutboxMessage, WebhookSubscriber
from django_apcore.secrets import encrypt
from django_apcore.services._database import alias, atomic
from django_apcore.services.audit import append

SHORTEST_SECRET = 16


def save_webhook(row: WebhookSubscriber, *, secret: str | None = None, actor: User | None) -> WebhookSubscriber:
    """Write a webhook, with `secret` as its key for signatures; None keeps the one that it has. With an audit entry.

    The entry tells which host is told of what, before and after; of the address, whose path may hold a secret, only
    whether it was changed. Raises InvalidInputError for an address that must not be reached, a secret that is missing
    or shorter than 16 characters, and patterns that are no list of texts.
    """
    check_webhook(row, secret)
    if secret is not None:
        row.secret_encrypted = encrypt(secret)
    with atomic():
        before = WebhookSubscriber.objects.using(alias()).select_for_update().filter(pk=row.pk).first()
        row.save(using=alias(), update_fields=None if before is None else _written(secret))
        append(
            "webhook.saved",
            subject=_subject(row),
            actor=actor,
            data={
                **_told(row),
                "before": None if before is None else _told(before),
                "address_changed": before is None or before.url != row.url,
                "secret_changed": secret is not None,
            },
        )
    return row


def delete_webhook(row: WebhookSubscriber, *, actor: User | None) -> None:
    """Remove a webhook and its deliveries, also those that wait. The audit entry says how many there were of each."""
    subject, known = _subject(row), _told(row)
    with atomic():
        # Locked, so that nothing is added to what is counted.
        WebhookSubscriber.objects.using(alias()).select_for_update().filter(pk=row.pk).first()
        append("webhook.deleted", subject=subject, actor=actor, data={**known, "deliveries": _deliveries(row)})
        row.delete(using=alias())


def _deliveries(row: WebhookSubscriber) -> dict[str, int]:
    has_left, is_given_up = Q(delivered_at__isnull=False), Q(abandoned_at__isnull=False)
    return (
        OutboxMessage.objects.using(alias())
        .filter(subscriber=row)
        .aggregate(
            delivered=Count("pk", filter=has_left),
            given_up=Count("pk", filter=is_given_up & ~has_left),
            waiting=Count("pk", filter=~is_given_up & ~has_left),
        )
    )


def check_webhook(row: WebhookSubscriber, secret: str | None) -> None:
    """Raise InvalidInputError, with the field in its details, for a webhook that cannot be saved like this."""
    if secret is None and not row.secret_encrypted:
        raise _wrong("secret", "A webhook needs a secret to sign with")
    if secret is not None and len(secret) < SHORTEST_SECRET:
        raise _wrong("secret", f"A secret has at least {SHORTEST_SECRET} characters")
    for name in ("types", "modules"):
        patterns = getattr(row, name)
        if not isinstance(patterns, list) or not all(isinstance(each, str) and each for each in patterns):
            raise _wrong(name, f"{name} is a list of patterns")
    _require_reachable(row.url)


def _require_reachable(url: str) -> None:
    """A name that nobody knows yet may come."""
    try:
        resolved(url, allow_private=get_settings().webhook_allow_private)
    except OSError:
        return
    except InvalidInputError as error:
        raise _wrong("url", error.message) from error


def _wrong(name: str, message: str) -> InvalidInputError:
    return InvalidInputError(message, details={"field": name}, user_fixable=True)


def _subject(row: WebhookSubscriber) -> str:
    return f"webhook:{row.pk}"


def _written(secret: str | None) -> list[str]:
    """What somebody has changed; how deliveries went meanwhile, and another secret that was set, stay."""
    columns = ["name", "url", "types", "min_severity", "modules", "enabled"]
    return columns if secret is None else [*columns, "secret_encrypted"]


def _told(row: WebhookSubscriber) -> dict[str, Any]:
    return {
        "name": row.name,
        "host": _host(row.url),
        "types": row.types,
        "min_severity": str(row.min_severity),
        "modules": row.modules,
        "enabled": row.enabled,
    }


def _host(url: str) -> str:
    """Scheme, host and port; nothing else of an address is for everybody."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
