"""Name actors: the trail keeps the IDs of users, and people know names."""

from collections.abc import Iterable

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from django_apcore.context import type_of
from django_apcore.models import AuditEntry
from django_apcore.services._database import alias


def name_actors(entries: Iterable[AuditEntry]) -> list[AuditEntry]:
    """Give entries the names that their actors have now, where these are users of this project; one query."""
    named = list(entries)
    users = _users({entry.actor_id for entry in named})
    for entry in named:
        user = users.get(entry.actor_id)
        if user is not None and entry.actor_type in ("user", type_of(user)):
            entry.actor_name = user.get_username()
    return named


def _users(ids: set[str]) -> dict[str, User]:
    """Users by their primary key as text. Identities from elsewhere may have IDs that no key of a user looks like."""
    users = get_user_model()
    keys = []
    for each in ids:
        try:
            keys.append(users._meta.pk.clean(each, None))
        except ValidationError:
            continue
    return {str(user.pk): user for user in users._default_manager.using(alias()).filter(pk__in=keys)}
