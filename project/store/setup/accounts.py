"""The people and the service of the demonstration."""

import secrets
from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from rest_framework.authtoken.models import Token

from project.store.setup.groups import AGENTS, APPROVERS, VIEWERS


@dataclass(frozen=True, slots=True)
class Account:
    username: str
    role: str
    groups: tuple[str, ...]
    staff: bool = False
    superuser: bool = False
    token: bool = False


@dataclass(frozen=True, slots=True)
class Credentials:
    """How to get in as `username`. No password: it was set before and is not touched, or there is none to set."""

    username: str
    role: str
    password: str | None
    token: str | None


ACCOUNTS = (
    Account("admin", "administers the site, may decide", (APPROVERS,), staff=True, superuser=True),
    Account("approver", "reads requests, approves or rejects", (APPROVERS,), staff=True),
    Account("viewer", "reads requests, decides nothing", (VIEWERS,), staff=True, token=True),
    Account("agent", "a service that asks for operations", (AGENTS,), token=True),
)


def ensure_account(account: Account, password: str | None = None) -> Credentials:
    """Make the account unless it is there; `password` is for a new one, random when it is not given."""
    user, created = User.objects.get_or_create(
        username=account.username,
        defaults={
            "email": f"{account.username}@example.com",
            "is_staff": account.staff,
            "is_superuser": account.superuser,
        },
    )
    user.groups.set(Group.objects.filter(name__in=account.groups))
    return Credentials(
        username=account.username,
        role=account.role,
        password=_first_password(user, account, password) if created else None,
        token=Token.objects.get_or_create(user=user)[0].key if account.token else None,
    )


def _first_password(user: User, account: Account, wanted: str | None) -> str | None:
    """People log in with a password; a service has a token and no password."""
    password = (wanted or secrets.token_urlsafe(9)) if account.staff else None
    user.set_password(password)
    user.save(update_fields=["password"])
    return password
