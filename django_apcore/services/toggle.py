"""Toggle: switch a module off or on, for every process."""

from django.contrib.auth.models import User
from django.utils import timezone

from apcore.context import Identity
from apcore.ids import validate_canonical_id
from django_apcore.effects import keep_books
from django_apcore.models import PolicyRevision, Toggle
from django_apcore.models.fields import storable
from django_apcore.services._actors import user_behind
from django_apcore.services._announce import announce
from django_apcore.services._database import alias, atomic
from django_apcore.services._revisions import bump
from django_apcore.services.audit import append
from django_apcore.signals import toggle_changed


def toggle(
    module_id: str, *, enabled: bool, actor: User | Identity | None, reason: str = "", trace_id: str | None = None
) -> Toggle:
    """Switch a module. Other processes see it within a second, this one at once. Raises InvalidModuleIdError."""
    validate_canonical_id(module_id)

    def publish() -> None:
        with atomic():
            bump(PolicyRevision.TOGGLES)
            append(
                "toggle.enabled" if enabled else "toggle.disabled",
                subject=f"module:{module_id}",
                actor=actor,
                module_id=module_id,
                trace_id=trace_id,
                data={"reason": reason},
            )
            announce(toggle_changed, Toggle, toggle=row, trace_id=trace_id)

    with atomic():
        row, _created = Toggle.objects.using(alias()).update_or_create(
            module_id=module_id,
            defaults={
                "enabled": enabled,
                "reason": storable(reason),
                "updated_by": user_behind(actor),
                "updated_at": timezone.now(),
            },
        )
        keep_books(publish)
    return row
