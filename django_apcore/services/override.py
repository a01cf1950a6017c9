"""Override: set a configuration value at run time for every process, or go back to the configured one."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from apcore.context import Identity
from apcore.redaction import REDACTED_VALUE, redact
from apcore.system import is_secret_key
from django_apcore.effects import keep_books
from django_apcore.models import Override, PolicyRevision
from django_apcore.models.fields import storable
from django_apcore.secrets import decrypt, encrypt
from django_apcore.services._actors import user_behind
from django_apcore.services._announce import announce
from django_apcore.services._calls import sensitive_keys
from django_apcore.services._database import alias, atomic
from django_apcore.services._revisions import bump
from django_apcore.services.audit import append
from django_apcore.signals import override_changed


def override(
    key: str,
    value: Any,
    *,
    actor: User | Identity | None,
    reason: str = "",
    trace_id: str | None = None,
    told: Mapping[str, Any] | None = None,
) -> Override:
    """Keep a value under a dotted key. Other processes take it up within a second, this one at once.

    The value of a sensitive key, and one that holds a secret, is stored encrypted. `told` is what the audit trail is
    told of both values. Whether the value is valid, the caller has found out.
    """
    keys = sensitive_keys()
    is_secret = is_secret_key(key, keys) or redact(value, None, keys) != value

    def publish() -> None:
        with atomic():
            # Written apart: a cipher text differs each time, so it would never be the effect that was approved.
            text = encrypt(value) if is_secret else ""
            Override.objects.using(alias()).filter(pk=row.pk).update(value_encrypted=text)
            bump(PolicyRevision.TOGGLES)
            _tell("config.updated", key, actor, trace_id, {**(told or {}), "reason": reason})

    with atomic():
        row, _created = Override.objects.using(alias()).update_or_create(
            key=key,
            defaults={
                "value": None if is_secret else value,
                "is_secret": is_secret,
                "reason": storable(reason),
                "updated_by": user_behind(actor),
                "updated_at": timezone.now(),
            },
        )
        keep_books(publish)
    return row


def drop_override(key: str, *, actor: User | Identity | None) -> bool:
    """Go back to the configured value. Returns whether it was overridden."""

    def publish() -> None:
        with atomic():
            bump(PolicyRevision.TOGGLES)
            _tell("config.restored", key, actor, None, {})

    with atomic():
        count, _by_model = Override.objects.using(alias()).filter(key=key).delete()
        if count:
            keep_books(publish)
    return bool(count)


def value_of(row: Override) -> Any:
    """The value of an override. Raises UndecryptableError with lost keys."""
    return decrypt(row.value_encrypted) if row.is_secret else row.value


def shown_value(row: Override) -> Any:
    """The value as people may see it."""
    return REDACTED_VALUE if row.is_secret else row.value


def _tell(kind: str, key: str, actor: User | Identity | None, trace_id: str | None, data: Mapping[str, Any]) -> None:
    append(kind, subject=f"config:{key}", actor=actor, trace_id=trace_id, data={"key": key, **data})
    announce(override_changed, Override, key=key)
