"""Modules, people and calls for the tests of governance."""

from typing import Annotated, Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.mail import send_mail
from pydantic import Field

from apcore import Change, Context, Identity, ModuleAnnotations, Plan, PlannedModule, module
from apcore.errors import ApprovalPendingError, ModuleError
from django_apcore.context import identity_for
from django_apcore.models import ApprovalRequest
from django_apcore.runtime import Runtime

GATED = ModuleAnnotations(requires_approval=True)


@module(id="test.groups.create", annotations=GATED, effect="transactional")
def create_group(name: str) -> int:
    """Create a group."""
    return Group.objects.create(name=name).pk


class PlanGroup(PlannedModule):
    """Create a group by a plan, whose effect is complete wherever it is asked for."""

    description = "Create a group by a plan."
    annotations = GATED
    input_schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    output_schema = {"type": "object"}

    def plan(self, inputs: dict[str, Any], context: Context) -> Plan:
        return Plan(changes=(Change("insert", f"auth.Group:{inputs['name']}", "Add a group"),), data=inputs["name"])

    def apply(self, plan: Plan, context: Context) -> dict[str, Any]:
        return {"id": Group.objects.create(name=plan.data).pk}


@module(id="test.groups.delete", annotations=GATED, effect="transactional")
def delete_groups(prefix: str) -> int:
    """Delete groups by prefix."""
    count, _ = Group.objects.filter(name__startswith=prefix).delete()
    return count


@module(
    id="test.groups.fail", annotations=GATED, effect="transactional", input_schema={"type": "object", "properties": {}}
)
def fail_if_told() -> int:
    """Fail once the group "boom" exists."""
    if Group.objects.filter(name="boom").exists():
        raise ValueError("secret text")
    return 0


@module(id="test.payments.charge", annotations=GATED, metadata={"x-compensation": "Pay back."})
def charge(amount: int, token: str) -> dict[str, Any]:
    """Charge somebody, somewhere."""
    return {"charged": amount, "secret": "s3cret"}


@module(id="test.payments.irreversible", annotations=GATED)
def irreversible(amount: int) -> bool:
    """Do what can neither be previewed nor undone."""
    return True


@module(id="test.vault.lock", annotations=GATED, effect="transactional")
def lock_vault(pin: Annotated[str, Field(json_schema_extra={"x-sensitive": True})]) -> dict[str, Any]:
    """Carry a secret input to every place that no schema marks: rows, mail, output, words of an error."""
    if Group.objects.filter(name="jammed").exists():
        raise ModuleError(f"{pin} does not turn", details={"tried": pin})
    Group.objects.create(name=f"vault {pin}")
    send_mail(f"Vault {pin}", f"It is {pin}.", None, ["owner@example.com"])
    return {"echo": pin, "words": f"locked with {pin}"}


@module(id="test.plain.echo")
def echo(text: str) -> str:
    """Say it again."""
    return text


@module(id="test.plain.repeat")
def repeat(data: dict[str, Any]) -> dict[str, str]:
    """Say more than was meant to be said."""
    return {"said": f"{data['text']}, {data['secrets']['password']}"}


FUNCTIONS = (create_group, delete_groups, fail_if_told, charge, irreversible, lock_vault, echo, repeat)
MODULES = {"test.groups.plan": PlanGroup, **{each.id: each for each in FUNCTIONS}}


def make_user(name: str, *, decides: bool = False, **fields: Any) -> User:
    user = User.objects.create_user(name, password="pw", **fields)
    if decides:
        names = ["decide_approvalrequest", "view_approvalrequest"]
        user.user_permissions.set(Permission.objects.filter(codename__in=names))
    return user


def context_for(user: User | None, **kwargs: Any) -> Context:
    identity: Identity | None = identity_for(user) if user else None
    return Context.create(identity=identity, **kwargs)


def ask(runtime: Runtime, user: User | None, module_id: str, /, **inputs: Any) -> ApprovalRequest:
    """Make a call that needs an approval, and return the request that waits for it."""
    with pytest.raises(ApprovalPendingError) as pending:
        runtime.executor.call(module_id, inputs, context_for(user))
    return ApprovalRequest.objects.get(pk=pending.value.details["approval_id"])
