"""Toggle: switch a module off or on, for every process."""

from django.contrib.auth.models import User

from django_apcore.models import Toggle


def toggle(module_id: str, *, enabled: bool, actor: User | None, reason: str = "") -> Toggle:
    """Switch a module. Other processes see it within a second, this one at once. Raises InvalidModuleIdError."""
    raise NotImplementedError
