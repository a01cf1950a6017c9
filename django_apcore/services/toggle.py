"""Toggle: switch a module off or on, for every process."""

from django.contrib.auth.models import User
from django.utils import timezone

from apcore.ids import validate_canonical_id
from django_apcore.models import PolicyRevision, Toggle
from django_apcore.models.fields import storable
from django_apcore.services._database import alias, announce, atomic
from django_apcore.services._revisions import bump
from django_apcore.services.audit import append
from django_apcore.signals import toggle_changed


def toggle(module_id: str, *, enabled: bool, actor: User | None, reason: str = "") -> Toggle:
    """Switch a module. Other processes see it within a second, this one at once. Raises InvalidModuleIdError."""
    validate_canonical_id(module_id)
    with atomic():
        bump(PolicyRevision.TOGGLES)
        row, _created = Toggle.objects.using(alias()).update_or_create(
            module_id=module_id,
            defaults={
                "enabled": enabled,
                "reason": storable(reason),
                "updated_by": actor,
                "updated_at": timezone.now(),
            },
        )
        kind = "toggle.enabled" if enabled else "toggle.disabled"
        append(kind, subject=f"module:{module_id}", actor=actor, module_id=module_id, data={"reason": reason})
        announce(toggle_changed, Toggle, toggle=row)
    return row
