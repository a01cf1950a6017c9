"""Approval policies in the admin."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from django_apcore.models import ApprovalPolicy, AuditEntry, PolicyRevision

pytestmark = pytest.mark.django_db
POLICIES = "/admin/django_apcore/approvalpolicy/"
GOOD = {
    "name": "Refunds",
    "pattern": "store.invoices.*",
    "position": "1",
    "expires_after": "0 08:00:00",
    "active": "on",
    "execute_on_approval": "on",
    "deciders": "",
}


def errors(response: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = response.context["adminform"].form.errors
    return found


def test_a_policy_is_published(admin_client: Client, admin_user: User) -> None:
    assert admin_client.post(f"{POLICIES}add/", GOOD).status_code == 302

    policy = ApprovalPolicy.objects.get()
    assert (policy.pattern, policy.expires_after.total_seconds()) == ("store.invoices.*", 8 * 3600)
    assert PolicyRevision.objects.get(name="policies").revision == 1
    assert AuditEntry.objects.get(kind="policy.saved").actor_id == str(admin_user.pk)


def test_a_change_is_a_new_revision(admin_client: Client) -> None:
    admin_client.post(f"{POLICIES}add/", GOOD)
    policy = ApprovalPolicy.objects.get()

    admin_client.post(f"{POLICIES}{policy.pk}/change/", {**GOOD, "allow_incomplete": "on"})

    changed = ApprovalPolicy.objects.get()
    assert changed.allow_incomplete
    assert changed.revision > policy.revision


@pytest.mark.parametrize(
    ("field", "value"),
    [("pattern", "store ..x"), ("pattern", ""), ("expires_after", "0"), ("position", "x"), ("name", "")],
)
def test_what_is_wrong_is_said_beside_its_field(admin_client: Client, field: str, value: str) -> None:
    response = admin_client.post(f"{POLICIES}add/", {**GOOD, field: value})

    assert response.status_code == 200
    assert field in errors(response)
    assert not ApprovalPolicy.objects.exists()


def test_deleting_is_published(admin_client: Client) -> None:
    policies = [ApprovalPolicy.objects.create(name=f"policy {number}") for number in range(3)]

    admin_client.post(f"{POLICIES}{policies[0].pk}/delete/", {"post": "yes"})
    chosen = [policy.pk for policy in policies[1:]]
    admin_client.post(POLICIES, {"action": "delete_selected", "_selected_action": chosen, "post": "yes"})

    assert not ApprovalPolicy.objects.exists()
    assert AuditEntry.objects.filter(kind="policy.deleted").count() == 3


def test_the_list_says_what_is_not_as_usual(
    admin_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    admin_client.post(f"{POLICIES}add/", GOOD)
    admin_client.post(f"{POLICIES}add/", {**GOOD, "name": "Rare", "execute_on_approval": "", "human_initiated": "on"})
    for number in range(3):
        ApprovalPolicy.objects.create(name=f"<b>{number}", pattern="a.*", deciders=Group.objects.create(name=number))

    with django_assert_max_num_queries(8):
        page = admin_client.get(POLICIES).content.decode()

    assert page.count("the caller executes it") == page.count("a person has to start it") == 1
    assert "8 hours" in page
    assert "<b>" not in page
