"""The revision numbers that tell every process to read rules and toggles again."""

from django_apcore.models import PolicyRevision
from django_apcore.services._database import alias


def bump(name: str) -> int:
    """Count one revision up, in the caller's transaction. Writers of the same policy wait for each other here."""
    rows = PolicyRevision.objects.using(alias()).select_for_update()
    row, _created = rows.get_or_create(name=name)
    row.revision += 1
    row.save(using=alias(), update_fields=["revision"])
    return row.revision
