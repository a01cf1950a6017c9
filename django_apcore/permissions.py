"""Who may decide. One place, asked by the services, and by the faces for what they show."""

from typing import Literal, Protocol

from django.contrib.auth.models import User

DECIDE = "django_apcore.decide_approvalrequest"
VIEW = "django_apcore.view_approvalrequest"
MANAGE_TASKS = "django_apcore.change_asynctask"
VIEW_HEALTH = "django_apcore.view_heartbeat"
VIEW_USAGE = "django_apcore.view_usagebucket"

Refusal = Literal["own_request", "no_permission", "not_a_decider"]

REFUSALS: dict[Refusal, str] = {
    "own_request": "You asked for this yourself, so somebody else has to decide.",
    "no_permission": "You may not decide on approval requests.",
    "not_a_decider": "The policy leaves this decision to another group.",
}


class Requested(Protocol):
    """What the rule needs to know of a request."""

    requested_by_id: int | None


def refusal(user: User, request: Requested, deciders_id: int | None) -> Refusal | None:
    """Return why a user may not decide on a request, or None if they may.

    `deciders_id` is the group that the policy names, if it names one; superusers belong to every group. Nobody
    decides on their own request, not even a superuser.
    """
    if not user.is_active or not user.has_perm(DECIDE):
        return "no_permission"
    if deciders_id is not None and not user.is_superuser and not user.groups.filter(pk=deciders_id).exists():
        return "not_a_decider"
    if request.requested_by_id is not None and str(request.requested_by_id) == str(user.pk):
        return "own_request"
    return None
