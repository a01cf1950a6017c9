"""Cancelling."""

import pytest
from django.contrib.auth.models import User

from apcore import Identity
from django_apcore import services
from django_apcore.context import identity_for
from django_apcore.exceptions import ApprovalConflict, ApprovalForbidden
from django_apcore.models import ApprovalRequest, AuditEntry
from tests.django_apcore.stage import make_user

pytestmark = pytest.mark.django_db(databases=["default", "other"])


def test_the_requester_may_withdraw(pending: ApprovalRequest, requester: User) -> None:
    request = services.cancel(pending.pk, identity=identity_for(requester), reason="typing error")
    assert request.status == ApprovalRequest.Status.CANCELLED
    entry = AuditEntry.objects.get(kind="approval.cancelled")
    assert (entry.actor_id, entry.data["reason"]) == (str(requester.pk), "typing error")


def test_so_may_the_user_behind_it_and_a_decider(pending: ApprovalRequest, requester: User, approver: User) -> None:
    services.cancel(pending.pk, actor=requester)
    ApprovalRequest.objects.update(status="approved")
    assert services.cancel(pending.pk, actor=approver).status == ApprovalRequest.Status.CANCELLED


@pytest.mark.parametrize("identity", [None, Identity("77"), Identity("1", "service")])
def test_nobody_else_may(pending: ApprovalRequest, identity: Identity | None) -> None:
    with pytest.raises(ApprovalForbidden):
        services.cancel(pending.pk, identity=identity)
    with pytest.raises(ApprovalForbidden):
        services.cancel(pending.pk, actor=make_user("nobody"), identity=identity)


@pytest.mark.parametrize(
    ("status", "reason"),
    [("consumed", "consumed"), ("rejected", "already_decided"), ("superseded", "already_decided")],
)
def test_it_can_be_too_late(pending: ApprovalRequest, requester: User, status: str, reason: str) -> None:
    ApprovalRequest.objects.update(status=status)
    with pytest.raises(ApprovalConflict) as refused:
        services.cancel(pending.pk, actor=requester)
    assert refused.value.details["reason"] == reason
