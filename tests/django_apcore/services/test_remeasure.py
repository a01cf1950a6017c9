"""Measuring a pending request again."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from apcore.errors import ModuleError
from django_apcore import services
from django_apcore.exceptions import ApprovalConflict, ApprovalForbidden
from django_apcore.models import ApprovalRequest, AuditEntry
from django_apcore.runtime import Runtime
from django_apcore.signals import approval_remeasured
from tests.django_apcore.stage import ask, make_user

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])


@pytest.fixture
def deletion(runtime: Runtime, requester: User) -> ApprovalRequest:
    Group.objects.create(name="old-1")
    return ask(runtime, requester, "test.groups.delete", prefix="old")


def test_a_changed_effect_takes_the_place_of_the_old_one(
    deletion: ApprovalRequest, approver: User, signals: Any
) -> None:
    Group.objects.create(name="old-2")
    with signals(approval_remeasured) as heard:
        request = services.remeasure(deletion.pk, actor=approver)
    assert request.pk == deletion.pk
    assert request.status == ApprovalRequest.Status.PENDING
    assert request.effect_digest != deletion.effect_digest
    assert request.effect_total == request.changes.count() == 2
    assert heard[0]["changed"] is True
    entry = AuditEntry.objects.get(kind="approval.remeasured")
    assert (entry.data["before"], entry.data["effect_digest"]) == (deletion.effect_digest, request.effect_digest)


def test_a_page_from_before_can_no_longer_approve(deletion: ApprovalRequest, approver: User) -> None:
    Group.objects.create(name="old-2")
    services.remeasure(deletion.pk, actor=approver)
    with pytest.raises(ApprovalConflict, match="was measured again and is no longer the one you saw") as refused:
        services.approve(deletion.pk, actor=approver, seen_digest=deletion.effect_digest, confirmed=True)
    assert refused.value.details["reason"] == "effect_changed"


def test_an_equal_effect_keeps_its_digest(deletion: ApprovalRequest, approver: User, signals: Any) -> None:
    with signals(approval_remeasured) as heard:
        request = services.remeasure(deletion.pk, actor=approver)
    assert request.effect_digest == deletion.effect_digest
    assert request.measured_at > deletion.measured_at
    assert heard[0]["changed"] is False


def test_a_module_that_fails_now_says_so(runtime: Runtime, requester: User, approver: User) -> None:
    request = ask(runtime, requester, "test.groups.fail")
    Group.objects.create(name="boom")
    with pytest.raises(ModuleError):
        services.remeasure(request.pk, actor=approver)
    request.refresh_from_db()
    assert request.status == ApprovalRequest.Status.PENDING


def test_it_needs_the_right_to_decide_but_no_second_person(
    deletion: ApprovalRequest, requester: User, runtime: Runtime
) -> None:
    with pytest.raises(ApprovalForbidden):
        services.remeasure(deletion.pk, actor=requester)
    boss = make_user("boss", is_superuser=True)
    own = ask(runtime, boss, "test.groups.create", name="x")
    assert services.remeasure(own.pk, actor=boss).pk == own.pk


def test_only_what_waits_is_measured(deletion: ApprovalRequest, approver: User) -> None:
    services.reject(deletion.pk, actor=approver, reason="no")
    with pytest.raises(ApprovalConflict):
        services.remeasure(deletion.pk, actor=approver)
