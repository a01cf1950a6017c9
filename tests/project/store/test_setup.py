"""`manage.py store_setup` may run as often as one likes, and says how to get in."""

import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from django_apcore.models import ACLRule, ApprovalPolicy
from project.store import setup
from project.store.models import Track

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def some_music(store: None) -> None:
    """A store that is not empty is not loaded over."""


def run() -> Any:
    out = io.StringIO()
    call_command("store_setup", "--json", stdout=out)
    return json.loads(out.getvalue())


def test_the_second_time_changes_nothing() -> None:
    first, tracks = run(), Track.objects.count()
    assert (first["loaded"], first["rules"], first["policies"]) == (False, True, True)
    ACLRule.objects.filter(position=1).update(enabled=False)
    ApprovalPolicy.objects.filter(name="Refunds").update(allow_incomplete=False)
    second = run()
    assert (second["loaded"], second["rules"], second["policies"]) == (False, False, False)
    assert Track.objects.count() == tracks
    assert not ACLRule.objects.get(position=1).enabled
    assert not ApprovalPolicy.objects.get(name="Refunds").allow_incomplete
    assert all(account["password"] is None for account in second["accounts"])
    assert [account["token"] for account in second["accounts"]] == [account["token"] for account in first["accounts"]]


def test_passwords_are_random_or_the_given_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMO_PASSWORD", raising=False)
    first = {account["username"]: account["password"] for account in run()["accounts"]}
    assert len(set(first.values())) == 4
    assert User.objects.get(username="approver").check_password(first["approver"])
    User.objects.all().delete()
    monkeypatch.setenv("DEMO_PASSWORD", "let me in")
    second = {account["username"]: account["password"] for account in run()["accounts"]}
    assert second == {"admin": "let me in", "approver": "let me in", "viewer": "let me in", "agent": None}


def test_a_service_has_a_token_and_no_password() -> None:
    run()
    agent = User.objects.get(username="agent")
    assert not agent.has_usable_password()
    assert not agent.is_staff


def test_who_may_decide() -> None:
    run()
    may = {user.username: user.has_perm("django_apcore.decide_approvalrequest") for user in User.objects.all()}
    assert may == {"admin": True, "approver": True, "viewer": False, "agent": False}
    assert User.objects.get(username="viewer").has_perm("django_apcore.view_approvalrequest")
    assert {policy.deciders.name for policy in ApprovalPolicy.objects.all()} == {setup.APPROVERS}
