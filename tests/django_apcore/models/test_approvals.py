"""What a request knows about itself."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apcore import Identity
from django_apcore.models import ApprovalPolicy, ApprovalRequest


def request(**columns: object) -> ApprovalRequest:
    known = {"module_id": "store.refund", "effect_complete": True, "provenance": "measured", **columns}
    return ApprovalRequest(expires_at=timezone.now() + timedelta(hours=1), **known)


@pytest.mark.parametrize(
    ("columns", "needed"),
    [
        ({}, False),
        ({"effect_destructive": True}, True),
        ({"effect_complete": False}, True),
        ({"provenance": "none", "effect_complete": False}, True),
        ({"annotations": {"destructive": True}}, True),
        ({"annotations": {"destructive": False}}, False),
    ],
)
def test_what_has_to_be_confirmed(columns: dict[str, object], needed: bool) -> None:
    assert request(**columns).needs_confirmation is needed


@pytest.mark.parametrize(
    ("provenance", "complete", "allowed", "forbidden"),
    [
        ("measured", True, False, False),
        ("measured", False, False, True),
        ("measured", False, True, False),
        ("declared", False, False, True),
        ("none", False, False, False),
    ],
)
def test_gaps_need_a_policy(provenance: str, complete: bool, allowed: bool, forbidden: bool) -> None:
    row = request(provenance=provenance, effect_complete=complete)
    assert row.has_forbidden_gaps(ApprovalPolicy(allow_incomplete=allowed)) is forbidden
    if not allowed:
        assert row.has_forbidden_gaps(None) is forbidden


def test_it_belongs_to_one_identity() -> None:
    row = request(identity_type="service", identity_id="7")
    assert row.is_from(Identity("7", "service"))
    assert not row.is_from(Identity("7", "user"))
    assert not row.is_from(None)
    assert request().is_from(None)


def test_it_expires() -> None:
    row = request()
    assert not row.is_expired
    row.expires_at = timezone.now()
    assert row.is_expired


@pytest.mark.django_db
def test_a_policy_is_saved_under_a_new_revision_whoever_saves_it() -> None:
    policy = ApprovalPolicy.objects.create(name="all")
    policy.save()
    assert ApprovalPolicy.objects.get().revision == 2
