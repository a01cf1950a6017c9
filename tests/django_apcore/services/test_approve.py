"""Approving: who may, what was seen, and what follows."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils import timezone

from django_apcore import services
from django_apcore.exceptions import ApprovalConflict, ApprovalForbidden, ApprovalNotFound
from django_apcore.models import ApprovalDecision, ApprovalPolicy, ApprovalRequest, AuditEntry
from django_apcore.runtime import Runtime
from django_apcore.signals import approval_decided
from tests.django_apcore.stage import ask, make_user

pytestmark = pytest.mark.django_db(databases=["default", "other"])


def approve(request: ApprovalRequest, actor: User, **options: Any) -> ApprovalRequest:
    return services.approve(request.pk, actor=actor, **{"seen_digest": request.effect_digest, **options})


def refused(request: ApprovalRequest, actor: User, **options: Any) -> str:
    """Approve in vain, and return the reason."""
    with pytest.raises((ApprovalConflict, ApprovalForbidden)) as error:
        approve(request, actor, **options)
    reason: str = error.value.details["reason"]
    return reason


def test_the_decision_is_stored_and_audited(pending: ApprovalRequest, approver: User) -> None:
    request = approve(pending, approver, reason="looks right", channel="api")

    assert request.status == ApprovalRequest.Status.APPROVED
    assert request.decided_at is not None
    decision = ApprovalDecision.objects.get(request=pending)
    assert (decision.verdict, decision.decided_by, decision.reason) == ("approve", approver, "looks right")
    assert (decision.effect_digest, decision.channel) == (pending.effect_digest, "api")
    entry = AuditEntry.objects.get(kind="approval.approved")
    assert entry.subject == pending.subject
    assert entry.data["effect_digest"] == pending.effect_digest
    assert entry.actor_id == str(approver.pk)


@pytest.mark.req("R-7.9-02")
@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_it_is_announced_after_the_commit(pending: ApprovalRequest, approver: User, signals: Any, queue: Any) -> None:
    with signals(approval_decided) as heard, transaction.atomic():
        approve(pending, approver)
        assert heard == []
    assert heard[0]["decision"].verdict == "approve"


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_a_worker_is_asked_to_execute_with_nothing_but_the_id(
    pending: ApprovalRequest, approver: User, queue: Callable[[], list[Any]]
) -> None:
    approve(pending, approver)
    [message] = queue()
    assert message.headers["task"] == "apcore.execute_approved"
    assert message.payload[0] == [str(pending.pk)]
    assert message.payload[1] == {}


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_the_policy_may_leave_the_execution_to_the_caller(
    runtime: Runtime, requester: User, approver: User, queue: Any
) -> None:
    ApprovalPolicy.objects.create(name="later", execute_on_approval=False)
    request = ask(runtime, requester, "test.groups.plan", name="new")
    approve(request, approver)
    assert queue() == []


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_a_broker_that_is_away_does_not_undo_the_approval(
    pending: ApprovalRequest, approver: User, broken_broker: None
) -> None:
    approve(pending, approver)
    pending.refresh_from_db()
    assert pending.status == ApprovalRequest.Status.APPROVED


@pytest.mark.req("DR-09")
def test_another_effect_than_the_one_that_was_seen_is_not_approved(pending: ApprovalRequest, approver: User) -> None:
    assert refused(pending, approver, seen_digest="0" * 64) == "effect_changed"


def test_a_digest_that_the_request_never_had_is_called_that(pending: ApprovalRequest, approver: User) -> None:
    with pytest.raises(ApprovalConflict, match="not the digest of the effect that the request shows"):
        services.approve(pending.pk, actor=approver, seen_digest="abc")
    pending.refresh_from_db()
    assert pending.status == ApprovalRequest.Status.PENDING
    assert not ApprovalDecision.objects.exists()


def test_nobody_approves_their_own_request_not_even_a_superuser(runtime: Runtime) -> None:
    boss = make_user("boss", is_superuser=True, is_staff=True)
    request = ask(runtime, boss, "test.groups.plan", name="new")
    assert refused(request, boss) == "own_request"


def test_the_permission_is_needed(pending: ApprovalRequest, approver: User) -> None:
    assert refused(pending, make_user("nobody")) == "no_permission"
    approver.is_active = False
    assert refused(pending, approver) == "no_permission"


def test_the_policy_may_leave_it_to_a_group(pending: ApprovalRequest, approver: User) -> None:
    deciders = Group.objects.create(name="deciders")
    ApprovalPolicy.objects.create(name="all", deciders=deciders)
    assert refused(pending, approver) == "not_a_decider"
    approver.groups.add(deciders)
    approve(pending, approver)


def test_it_is_decided_under_the_policy_of_the_moment(pending: ApprovalRequest, approver: User) -> None:
    policy = ApprovalPolicy.objects.create(name="all")
    approve(pending, approver)
    pending.refresh_from_db()
    assert (pending.policy, pending.policy_revision) == (policy, 1)


@pytest.mark.parametrize("status", ["approved", "consumed", "rejected", "cancelled", "superseded", "failed"])
def test_what_is_settled_is_not_approved_again(pending: ApprovalRequest, approver: User, status: str) -> None:
    ApprovalRequest.objects.update(status=status)
    assert refused(pending, approver) == "already_decided"


def test_the_second_is_told_who_was_first(pending: ApprovalRequest, approver: User, other_approver: User) -> None:
    approve(pending, approver)
    with pytest.raises(ApprovalConflict, match="adam approved this request at"):
        approve(pending, other_approver)


def test_an_expired_request_is_refused_and_recorded_as_expired(pending: ApprovalRequest, approver: User) -> None:
    ApprovalRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert refused(pending, approver) == "expired"
    pending.refresh_from_db()
    assert pending.status == ApprovalRequest.Status.EXPIRED
    assert refused(pending, approver) == "expired"


def test_what_destroys_has_to_be_confirmed(pending: ApprovalRequest, approver: User) -> None:
    ApprovalRequest.objects.update(effect_destructive=True)
    assert refused(pending, approver) == "confirmation_required"
    approve(pending, approver, confirmed=True)


@pytest.mark.req("DR-13")
def test_what_cannot_be_previewed_has_to_be_confirmed(runtime: Runtime, requester: User, approver: User) -> None:
    request = ask(runtime, requester, "test.payments.charge", amount=1, token="")
    assert refused(request, approver) == "confirmation_required"
    approve(request, approver, confirmed=True)


def test_an_incomplete_effect_needs_a_policy_and_a_confirmation(pending: ApprovalRequest, approver: User) -> None:
    ApprovalRequest.objects.update(effect_complete=False, effect_gaps=["a trigger wrote 3 rows"])
    assert refused(pending, approver, confirmed=True) == "incomplete"
    ApprovalPolicy.objects.create(name="all", allow_incomplete=True)
    assert refused(pending, approver) == "confirmation_required"
    approve(pending, approver, confirmed=True)


@pytest.mark.parametrize("unknown", ["", "nonsense", "00000000-0000-0000-0000-000000000000", "%s", "\0"])
def test_an_unknown_id_is_not_found(approver: User, unknown: str) -> None:
    with pytest.raises(ApprovalNotFound):
        services.approve(unknown, actor=approver, seen_digest="")


def test_an_unknown_channel_is_a_mistake_of_the_programmer(pending: ApprovalRequest, approver: User) -> None:
    with pytest.raises(ValueError, match="carrier pigeon"):
        approve(pending, approver, channel="carrier pigeon")
