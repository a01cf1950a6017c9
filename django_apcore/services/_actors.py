"""Who is behind an actor."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from apcore.context import Identity
from django_apcore.context import user_pk_of


def user_behind(actor: User | Identity | None) -> User | None:
    """The account of an actor; None for one without, and for one that is gone."""
    if not isinstance(actor, Identity):
        return actor
    pk = user_pk_of(actor)
    try:
        found: User | None = None if pk is None else get_user_model()._default_manager.filter(pk=pk).first()
    except (ValueError, ValidationError):
        return None
    return found
