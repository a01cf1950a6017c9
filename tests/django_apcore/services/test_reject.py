"""Rejecting."""

import pytest
from django.contrib.auth.models import User

from apcore.errors import InvalidInputError
from django_apcore import services
from django_apcore.exceptions import ApprovalConflict, ApprovalForbidden
from django_apcore.models import ApprovalRequest, AuditEntry

pytestmark = pytest.mark.django_db(databases=["default", "other"])


def test_a_rejection_says_why(pending: ApprovalRequest, approver: User) -> None:
    request = services.reject(pending.pk, actor=approver, reason="not today")
    assert request.status == ApprovalRequest.Status.REJECTED
    assert request.decisions.get().reason == "not today"
    assert AuditEntry.objects.get(kind="approval.rejected").data["reason"] == "not today"


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_reason_is_required(pending: ApprovalRequest, approver: User, reason: str) -> None:
    with pytest.raises(InvalidInputError):
        services.reject(pending.pk, actor=approver, reason=reason)


def test_the_requester_cannot_reject(pending: ApprovalRequest, requester: User) -> None:
    with pytest.raises(ApprovalForbidden):
        services.reject(pending.pk, actor=requester, reason="no")


def test_with_a_digest_nothing_is_rejected_unseen(pending: ApprovalRequest, approver: User) -> None:
    with pytest.raises(ApprovalConflict) as refused:
        services.reject(pending.pk, actor=approver, reason="no", seen_digest="other")
    assert refused.value.details["reason"] == "effect_changed"


def test_what_cannot_be_approved_can_be_rejected(pending: ApprovalRequest, approver: User) -> None:
    ApprovalRequest.objects.update(effect_complete=False, effect_destructive=True)
    services.reject(pending.pk, actor=approver, reason="no", seen_digest=pending.effect_digest)


def test_an_approved_request_cannot_be_rejected(pending: ApprovalRequest, approver: User) -> None:
    services.approve(pending.pk, actor=approver, seen_digest=pending.effect_digest)
    with pytest.raises(ApprovalConflict) as refused:
        services.reject(pending.pk, actor=approver, reason="changed my mind")
    assert refused.value.details["reason"] == "already_decided"
