"""Expiring."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from django_apcore import services
from django_apcore.models import ApprovalRequest, AuditEntry
from django_apcore.runtime import Runtime
from tests.django_apcore.stage import ask

pytestmark = pytest.mark.django_db(databases=["default", "other"])

PAST = timedelta(seconds=-1)


@pytest.mark.parametrize("status", ["pending", "approved"])
def test_what_is_open_expires_when_its_time_is_over(pending: ApprovalRequest, status: str) -> None:
    assert services.expire(pending.pk).status == "pending"
    ApprovalRequest.objects.update(status=status, expires_at=timezone.now() + PAST)
    assert services.expire(pending.pk).status == ApprovalRequest.Status.EXPIRED
    assert AuditEntry.objects.get(kind="approval.expired").data == {"was": status}


@pytest.mark.parametrize("status", ["consumed", "rejected", "cancelled", "failed", "superseded"])
def test_what_is_settled_does_not_expire(pending: ApprovalRequest, status: str) -> None:
    ApprovalRequest.objects.update(status=status, expires_at=timezone.now() + PAST)
    assert services.expire(pending.pk).status == status
    assert services.expire_due() == 0


def test_all_that_are_due(runtime: Runtime, requester: User) -> None:
    due = [ask(runtime, requester, "test.groups.create", name=name).pk for name in "ab"]
    ask(runtime, requester, "test.groups.create", name="c")
    ApprovalRequest.objects.filter(pk__in=due).update(expires_at=timezone.now() + PAST)
    assert services.expire_due() == 2
    assert services.expire_due() == 0
    assert set(ApprovalRequest.objects.filter(status="expired").values_list("pk", flat=True)) == set(due)
