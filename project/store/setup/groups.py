"""Groups are the roles that ACL rules speak of; their permissions say what their members see in the admin."""

from django.contrib.auth.models import Group, Permission
from django.db.models import Q

AGENTS = "store-agents"
APPROVERS = "store-approvers"
VIEWERS = "store-viewers"

_SEE_EVERYTHING = Q(content_type__app_label__in=["store", "django_apcore"], codename__startswith="view_")
_DECIDE = Q(content_type__app_label="django_apcore", codename="decide_approvalrequest")

PERMISSIONS = {AGENTS: Q(pk__in=[]), APPROVERS: _SEE_EVERYTHING | _DECIDE, VIEWERS: _SEE_EVERYTHING}


def ensure_groups() -> None:
    for name, which in PERMISSIONS.items():
        group, _ = Group.objects.get_or_create(name=name)
        group.permissions.set(Permission.objects.filter(which))
