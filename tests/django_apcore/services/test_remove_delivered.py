"""How long messages stay that have left."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.conf import settings
from django.test import override_settings
from django.utils import timezone

from django_apcore.models import ApprovalRequest, OutboxMessage
from django_apcore.secrets import encrypt
from django_apcore.services import Kept, keep_records, remove_delivered, remove_details

pytestmark = pytest.mark.django_db


def message(name: str, **columns: object) -> UUID:
    payload = encrypt({"to": "ada@example.com"})
    made = OutboxMessage.objects.create(kind="mail", payload_encrypted=payload, idempotency_key=name, **columns)
    return made.pk


def test_what_was_delivered_long_ago_goes_and_all_else_stays() -> None:
    long_ago, lately = timezone.now() - timedelta(days=9), timezone.now() - timedelta(days=7)
    message("old", delivered_at=long_ago)
    kept = {
        message("young", delivered_at=lately),
        message("waits", created_at=long_ago),
        message("given up", created_at=long_ago, abandoned_at=long_ago),
    }
    assert keep_records() == Kept()
    with override_settings(APCORE={**settings.APCORE, "OUTBOX_RETENTION_DAYS": 8}):
        assert keep_records().messages_removed == 1
    assert set(OutboxMessage.objects.values_list("pk", flat=True)) == kept


def test_many_go_piece_by_piece() -> None:
    for number in range(5):
        message(str(number), delivered_at=timezone.now() - timedelta(seconds=1))
    assert remove_delivered(older_than=timedelta(0), batch=2) == 5
    assert not OutboxMessage.objects.exists()


def test_mail_that_was_sent_goes_with_the_details_of_its_request(pending: ApprovalRequest) -> None:
    ApprovalRequest.objects.update(status="consumed", finished_at=timezone.now() - timedelta(days=9))
    message("sent", approval=pending, delivered_at=timezone.now())
    waits = message("waits", approval=pending)
    assert remove_details(older_than=timedelta(days=8)) == 1
    assert list(OutboxMessage.objects.values_list("pk", flat=True)) == [waits]
