"""An API over a handful of real modules: they work on Django's own groups, so that every effect is one of the ORM."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import Group, Permission, User
from pydantic import Field
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from apcore.acl import ACL
from apcore.context import Context
from apcore.errors import ExecutionCancelledError, ModuleError
from apcore.modules import ModuleAnnotations, module
from apcore.registry import Registry
from django_apcore import runtime
from django_apcore.models import ApprovalPolicy

NEEDS_APPROVAL = ModuleAnnotations(requires_approval=True, destructive=True)
Sensitive = Annotated[str, Field(json_schema_extra={"x-sensitive": True})]


class QuotaExceededError(ModuleError):
    code = "GROUPS_QUOTA_EXCEEDED"
    http_status = 429


@module(id="groups.find", tags=["groups", "reading"], annotations=ModuleAnnotations(readonly=True))
def find(name: str) -> dict[str, Any]:
    """Find groups by name."""
    return {"names": sorted(Group.objects.filter(name__contains=name).values_list("name", flat=True))}


@module(id="groups.add", tags=["groups"], effect="transactional")
def add(name: str) -> dict[str, Any]:
    """Add a group; equal names get a number."""
    number = Group.objects.filter(name__startswith=name).count()
    return {"name": Group.objects.create(name=f"{name} {number}").name}


@module(id="groups.delete", tags=["groups"], annotations=NEEDS_APPROVAL, effect="transactional")
def delete(name: str, reference: Sensitive = "") -> dict[str, Any]:
    """Delete all groups whose name starts like this."""
    deleted, _ = Group.objects.filter(name__startswith=name).delete()
    return {"deleted": deleted, "reference": reference}


@module(id="groups.fail")
def fail(how: str) -> dict[str, Any]:
    """Fail in one of several ways."""
    if how == "quota":
        raise QuotaExceededError("Too many groups", retryable=True)
    raise ValueError("the password is hunter2")


@module(id="groups.count", effect="transactional")
def count(what: str) -> dict[str, Any]:
    """Add a group and return something that JSON has no word for."""
    Group.objects.create(name=f"counted {Group.objects.count()}")
    return {"number": {"nan": float("nan"), "half": "\ud800", "thing": object()}[what]}


@module(id="groups.hop")
def hop(context: Context) -> dict[str, Any]:
    """Add a group for good, and then fail at a module that may not be called."""
    Group.objects.create(name=f"hop {Group.objects.count()}")
    result: dict[str, Any] = context.executor.call("groups.forbidden", {}, context)
    return result


@module(id="groups.stop")
def stop() -> dict[str, Any]:
    """Give up."""
    raise ExecutionCancelledError


@module(id="groups.forbidden")
def forbidden() -> dict[str, Any]:
    """A module that nobody may call."""
    return {}


@module(id="groups.hidden", annotations=ModuleAnnotations(discoverable=False))
def hidden() -> dict[str, Any]:
    """A module that no list shows."""
    return {"found": True}


@module(id="staff.report")
def report() -> dict[str, Any]:
    """A module for one group of people."""
    return {"fine": True}


MODULES = (find, add, delete, fail, count, hop, stop, forbidden, hidden, report)
RULES = (
    {"callers": ["*"], "targets": ["groups.forbidden"], "effect": "deny"},
    {"callers": ["@external"], "targets": ["staff.*"], "effect": "allow", "conditions": {"roles": ["staff"]}},
    {"callers": ["@external"], "targets": ["groups.*"], "effect": "allow"},
)


@pytest.fixture(autouse=True)
def api_runtime(db: None) -> Iterator[runtime.Runtime]:
    registry = Registry()
    for each in MODULES:
        registry.register(each.id, each)
    ours = runtime.build(registry=registry, acl=ACL(RULES))
    before = runtime.replace(ours)
    yield ours
    runtime.replace(before)


@pytest.fixture
def configure(api_runtime: runtime.Runtime, settings: LazySettings) -> Callable[..., None]:
    """Change keys of APCORE. That drops the runtime, so ours is put back."""

    def change(**keys: object) -> None:
        settings.APCORE = {**settings.APCORE, **keys}
        runtime.replace(api_runtime)

    return change


@pytest.fixture
def by_the_caller() -> ApprovalPolicy:
    """No worker executes what is approved; the caller comes back and does."""
    return ApprovalPolicy.objects.create(name="by the caller", pattern="groups.*", execute_on_approval=False)


def account(name: str, *permissions: str, groups: tuple[str, ...] = ()) -> User:
    user = User.objects.create_user(name)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    for group in groups:
        user.groups.add(Group.objects.get_or_create(name=group)[0])
    return user


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {Token.objects.get_or_create(user=user)[0].key}")
    return client


@pytest.fixture
def agent() -> APIClient:
    """A service that calls modules, with a token."""
    return client_of(account("agent"))


@pytest.fixture
def approver() -> APIClient:
    return client_of(account("approver", "decide_approvalrequest", "view_approvalrequest"))


@pytest.fixture
def viewer() -> APIClient:
    return client_of(account("viewer", "view_approvalrequest"))


@pytest.fixture
def stranger() -> APIClient:
    """Another service, with a token of its own."""
    return client_of(account("stranger"))


def url(path: str) -> str:
    return f"/api/apcore/{path}"


def call(client: APIClient, module_id: str, inputs: object, **headers: str) -> Any:
    """POST modules/{id}/call/ with these inputs."""
    return client.post(url(f"modules/{module_id}/call/"), {"inputs": inputs}, format="json", headers=headers)
