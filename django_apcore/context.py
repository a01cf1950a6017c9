"""From an HTTP request to the context of a call (§12.2)."""

from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest

from apcore.context import Context, Identity, parse_traceparent
from apcore.telemetry.propagation import active_span

CORRELATION_HEADERS = ("X-Correlation-ID", "X-Request-ID")
SUPERUSER = "superuser"


class DjangoContextFactory:
    """Makes contexts from requests of Django or the REST framework.

    A project whose people have no password here (single sign-on) overrides `identity_type`.
    """

    def create_context(self, request: HttpRequest) -> Context:
        """The context of a top-level call: who asks, under which trace. `caller_id` stays None (§5.7).

        Where OpenTelemetry traces the request, its span is continued, else an inbound `traceparent`; a malformed one is
        replaced, never refused (§10.5). A foreign request ID is kept in `data["x-correlation-id"]`.
        """
        parent = active_span() or parse_traceparent(request.headers.get("traceparent"))
        correlation = next(filter(None, map(request.headers.get, CORRELATION_HEADERS)), None)
        context = Context.create(
            identity=self.create_identity(request),
            trace_parent=parent.trace_id if parent else None,
            data={"x-correlation-id": correlation} if correlation else {},
        )
        context.span = parent
        return context

    def create_identity(self, request: HttpRequest) -> Identity | None:
        """Who asks, or None for an anonymous request."""
        user = getattr(request, "user", None)
        if user is None or isinstance(user, AnonymousUser) or not user.is_authenticated:
            return None
        via = "session" if getattr(request, "auth", None) is None else "token"
        return identity_for(user, type=self.identity_type(user), via=via)

    def identity_type(self, user: User) -> str:
        """`service` for an account that nobody can log in with, else `user`."""
        return type_of(user)


def type_of(user: User) -> str:
    """`service` for an account without a usable password that is not staff either, else `user`."""
    return "user" if user.is_staff or user.has_usable_password() else "service"


def identity_for(user: User, *, type: str | None = None, via: str | None = None) -> Identity:  # noqa: A002 - as Identity
    """The identity of a user: primary key as ID, groups as roles, plus `superuser` for those.

    `via` says how the user was recognised: `session`, `token` or `command`.
    """
    # a group of that name makes nobody a superuser
    roles = sorted({*user.groups.values_list("name", flat=True)} - {SUPERUSER})
    if user.is_superuser:
        roles.append(SUPERUSER)
    attrs: dict[str, Any] = {"username": user.get_username(), "user_pk": str(user.pk)}
    if via is not None:
        attrs["via"] = via
    return Identity(id=str(user.pk), type=type or type_of(user), roles=tuple(roles), attrs=attrs)


def user_pk_of(identity: Identity | None) -> str | None:
    """The primary key of the user behind an identity, or None for one that is no user of this project."""
    if identity is None:
        return None
    pk = identity.attrs.get("user_pk")
    if pk is None and identity.type == "user":
        pk = identity.id
    return None if pk is None else str(pk)
