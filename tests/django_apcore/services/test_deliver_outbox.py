"""Messages leave the outbox at least once, and one that fails keeps no other."""

import logging
import threading
from datetime import timedelta
from typing import Any

import pytest
from celery.signals import before_task_publish
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import connections
from django.test import override_settings
from django.utils import timezone

from django_apcore.effects import governed
from django_apcore.models import OutboxMessage
from django_apcore.secrets import decrypt
from django_apcore.services import deliver_outbox

pytestmark = pytest.mark.django_db(databases="__all__")


class FailingBackend(EmailBackend):
    """Cannot reach the server as long as the subject says so."""

    def send_messages(self, messages: Any) -> int:
        for message in messages:
            if message.subject == "fails":
                raise ConnectionRefusedError("the password is secret")
        return int(super().send_messages(messages))


def send(*subjects: str) -> None:
    with governed(commit=True):
        for subject in subjects:
            mail.EmailMessage(subject, "body", "a@example.com", ["b@example.com"]).send()


def subjects_sent() -> list[str]:
    return [str(message.subject) for message in mail.outbox]


def test_what_waits_is_delivered_in_order_and_once() -> None:
    send("one", "two")
    assert deliver_outbox() == 2
    assert subjects_sent() == ["one", "two"]
    assert deliver_outbox() == 0
    message = OutboxMessage.objects.first()
    assert message is not None
    assert message.delivered_at is not None
    assert message.attempts == 1


def test_the_content_is_stored_encrypted() -> None:
    send("a subject")
    stored = OutboxMessage.objects.get()
    assert "a subject" not in stored.payload_encrypted
    assert decrypt(stored.payload_encrypted)["message"]["state"]["subject"] == "a subject"


def test_messages_of_one_block_share_a_cause() -> None:
    send("one", "two")
    first, second = OutboxMessage.objects.all()
    assert first.idempotency_key.endswith(":0")
    assert second.idempotency_key == first.idempotency_key.removesuffix("0") + "1"


@override_settings(EMAIL_BACKEND=f"{__name__}.FailingBackend")
def test_a_failure_is_tried_again_later_and_keeps_no_other(caplog: pytest.LogCaptureFixture) -> None:
    send("fails", "works")
    with caplog.at_level(logging.WARNING):
        assert deliver_outbox() == 1
    assert subjects_sent() == ["works"]
    failed = OutboxMessage.objects.get(delivered_at=None)
    assert failed.last_error == "ConnectionRefusedError"
    assert "secret" not in caplog.text
    assert failed.next_attempt_at > timezone.now()
    assert deliver_outbox() == 0, "it is not due yet"


@override_settings(EMAIL_BACKEND=f"{__name__}.FailingBackend")
def test_attempts_become_rarer_up_to_once_an_hour() -> None:
    send("fails")
    waits = []
    for _ in range(12):
        OutboxMessage.objects.update(next_attempt_at=timezone.now())
        before = timezone.now()
        deliver_outbox()
        due, after = OutboxMessage.objects.get().next_attempt_at, timezone.now()
        waits.append(((due - after).total_seconds(), (due - before).total_seconds()))
    expected = [15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600]
    assert all(least <= seconds <= most for (least, most), seconds in zip(waits, expected, strict=True)), waits


def test_a_worker_that_died_holding_a_message_is_outlived() -> None:
    send("one")
    OutboxMessage.objects.update(attempts=1, next_attempt_at=timezone.now() + timedelta(minutes=5))
    assert deliver_outbox() == 0
    OutboxMessage.objects.update(next_attempt_at=timezone.now())
    assert deliver_outbox() == 1


@override_settings(SECRET_KEY="another key", SECRET_KEY_FALLBACKS=[])
def test_a_message_that_cannot_be_read_stays() -> None:
    with override_settings(SECRET_KEY="a key that was lost"):
        send("one")
    assert deliver_outbox() == 0
    assert OutboxMessage.objects.get().last_error == "UndecryptableError"


def test_only_so_many_at_a_time() -> None:
    send("one", "two", "three")
    assert deliver_outbox(limit=2) == 2
    assert deliver_outbox(limit=2) == 1


def test_the_commit_asks_a_worker_to_deliver(django_capture_on_commit_callbacks: Any) -> None:
    asked: list[str] = []

    def note(sender: str, **message: Any) -> None:
        asked.append(sender)

    before_task_publish.connect(note)
    with django_capture_on_commit_callbacks(execute=True):
        send("one", "two")
    assert asked == ["apcore.deliver_outbox"]
    with django_capture_on_commit_callbacks(execute=True), governed(commit=True):
        pass
    assert asked == ["apcore.deliver_outbox"]


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True, databases="__all__")
def test_two_workers_deliver_nothing_twice() -> None:
    send(*map(str, range(20)))
    delivered: list[int] = []

    def work() -> None:
        try:
            delivered.append(deliver_outbox())
        finally:
            connections.close_all()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert sum(delivered) == 20
    assert sorted(subjects_sent(), key=int) == [str(number) for number in range(20)]
