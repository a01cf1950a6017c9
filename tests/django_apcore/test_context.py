"""From requests to contexts."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, Group, User
from django.test import RequestFactory

from apcore import ContextFactory, Identity
from apcore.context import is_trace_id
from django_apcore.context import DjangoContextFactory, identity_for, user_pk_of

SAMPLE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def request(user: Any = None, **headers: str) -> Any:
    made = RequestFactory().get("/", headers=headers)
    made.user = user or AnonymousUser()
    return made


@pytest.fixture
def factory() -> DjangoContextFactory:
    return DjangoContextFactory()


@pytest.mark.req("R-12.2-43")
def test_it_is_a_context_factory(factory: DjangoContextFactory) -> None:
    assert isinstance(factory, ContextFactory)


@pytest.mark.req("R-12.2-47", "R-10.5-05")
@pytest.mark.parametrize("header", [None, "", "garbage", SAMPLE.upper(), SAMPLE.replace("4", "g")])
def test_without_a_valid_traceparent_there_is_a_new_trace(factory: DjangoContextFactory, header: str | None) -> None:
    context = factory.create_context(request(**({"traceparent": header} if header is not None else {})))
    assert is_trace_id(context.trace_id)
    assert context.trace_id != SAMPLE[3:35]


@pytest.mark.req("R-12.2-47", "R-10.5-04")
def test_a_traceparent_is_continued(factory: DjangoContextFactory) -> None:
    assert factory.create_context(request(traceparent=SAMPLE)).trace_id == "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.req("R-5.7-12", "R-5.7-10", "R-5.7-11")
@pytest.mark.parametrize("name", ["X-Request-ID", "X-Correlation-ID"])
def test_a_foreign_request_id_is_kept_beside_it(factory: DjangoContextFactory, name: str) -> None:
    context = factory.create_context(request(**{name: "abc", "traceparent": SAMPLE}))
    assert context.data == {"x-correlation-id": "abc"}
    assert context.trace_id == SAMPLE[3:35]


@pytest.mark.req("R-12.2-45", "R-12.2-48")
def test_an_anonymous_request_has_no_identity_and_no_caller(factory: DjangoContextFactory) -> None:
    context = factory.create_context(request())
    assert context.identity is None
    assert context.caller_id is None
    assert context.call_chain == []


@pytest.mark.req("R-12.2-45")
@pytest.mark.django_db
def test_a_user_is_the_identity(factory: DjangoContextFactory) -> None:
    user = User.objects.create_user("ada", password="pw")
    user.groups.set([Group.objects.create(name=name) for name in ("writers", "admins")])
    identity = factory.create_context(request(user)).identity
    assert identity == Identity(
        str(user.pk), "user", ("admins", "writers"), {"username": "ada", "user_pk": str(user.pk), "via": "session"}
    )


@pytest.mark.req("R-12.2-45")
@pytest.mark.django_db
def test_accounts_that_nobody_can_log_in_with_are_services(factory: DjangoContextFactory) -> None:
    robot = User.objects.create_user("robot")
    with_token = request(robot)
    with_token.auth = SimpleNamespace(key="t")
    identity = factory.create_context(with_token).identity
    assert identity is not None
    assert (identity.type, identity.attrs["via"]) == ("service", "token")
    staff = User.objects.create_user("sso", is_staff=True, is_superuser=True)
    assert identity_for(staff).type == "user"
    assert identity_for(staff).roles == ("superuser",)


def test_a_project_may_say_otherwise(factory: DjangoContextFactory) -> None:
    class SingleSignOn(DjangoContextFactory):
        def identity_type(self, user: User) -> str:
            return "user"

    user = SimpleNamespace(
        pk=1,
        is_authenticated=True,
        is_superuser=False,
        groups=SimpleNamespace(values_list=lambda *_, **__: []),
        get_username=lambda: "sso",
    )
    identity = SingleSignOn().create_identity(request(user))
    assert identity is not None
    assert identity.type == "user"


@pytest.mark.parametrize(
    ("identity", "pk"),
    [
        (None, None),
        (Identity("7"), "7"),
        (Identity("7", "agent"), None),
        (Identity("7", "service", attrs={"user_pk": 3}), "3"),
    ],
)
def test_the_user_behind_an_identity(identity: Identity | None, pk: str | None) -> None:
    assert user_pk_of(identity) == pk


@pytest.mark.django_db
def test_a_group_makes_nobody_a_superuser() -> None:
    user = User.objects.create_user("mallory")
    user.groups.add(Group.objects.create(name="superuser"), Group.objects.create(name="clerks"))
    assert identity_for(user).roles == ("clerks",)
