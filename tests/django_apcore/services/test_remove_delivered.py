"""How long messages stay that have left."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from django_apcore.exceptions import AuditHeadMissing
from django_apcore.models import ApprovalRequest, AuditChain, AuditEntry, OutboxMessage
from django_apcore.secrets import encrypt
from django_apcore.services import Kept, append, keep_records, remove_delivered, remove_details

pytestmark = pytest.mark.django_db


def message(name: str, **columns: object) -> UUID:
    payload = encrypt({"to": "ada@example.com"})
    values = {"kind": "mail", "payload_encrypted": payload, **columns}
    return OutboxMessage.objects.create(idempotency_key=name, **values).pk


def test_what_was_delivered_long_ago_goes_and_all_else_stays() -> None:
    long_ago, lately = timezone.now() - timedelta(days=9), timezone.now() - timedelta(days=7)
    message("old", delivered_at=long_ago)
    kept = {
        message("young", delivered_at=lately),
        message("waits", created_at=long_ago),
        message("given up", created_at=long_ago, abandoned_at=long_ago),
    }
    assert keep_records() == Kept()
    assert not AuditEntry.objects.exists()
    with override_settings(APCORE={**settings.APCORE, "OUTBOX_RETENTION_DAYS": 8}):
        assert keep_records().messages_removed == 1
    assert set(OutboxMessage.objects.values_list("pk", flat=True)) == kept


def test_many_go_piece_by_piece_and_the_trail_says_how_many_of_which_kinds() -> None:
    before = timezone.now()
    for number in range(5):
        message(
            str(number), kind="task" if number == 1 else "mail", delivered_at=before + timedelta(seconds=number - 9)
        )
    assert remove_delivered(older_than=timedelta(0), batch=2) == 5
    assert not OutboxMessage.objects.exists()
    entries = AuditEntry.objects.filter(kind="outbox.cleaned", subject="outbox").order_by("pk")
    assert [entry.data["kinds"] for entry in entries] == [{"mail": 1, "task": 1}, {"mail": 2}, {"mail": 1}]
    assert [entry.data["messages"] for entry in entries] == [2, 2, 1]
    assert all(before <= datetime.fromisoformat(entry.data["until"]) <= timezone.now() for entry in entries)


def test_what_cannot_be_written_down_stays() -> None:
    entry = append("test.happened", subject="outbox")
    AuditChain.objects.filter(partition=entry.partition).delete()
    message("old", delivered_at=timezone.now() - timedelta(days=9))
    with pytest.raises(AuditHeadMissing):
        remove_delivered(older_than=timedelta(0))
    assert OutboxMessage.objects.exists()


def test_old_messages_are_found_by_an_index() -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
    old = OutboxMessage.objects.filter(delivered_at__lt=timezone.now()).order_by("delivered_at")[:5]
    assert "apcore_outbox_delivered" in old.explain()


def test_mail_that_was_sent_goes_with_the_details_of_its_request(pending: ApprovalRequest) -> None:
    ApprovalRequest.objects.update(status="consumed", finished_at=timezone.now() - timedelta(days=9))
    message("sent", approval=pending, delivered_at=timezone.now())
    waits = message("waits", approval=pending)
    assert remove_details(older_than=timedelta(days=8)) == 1
    assert list(OutboxMessage.objects.values_list("pk", flat=True)) == [waits]
