"""Events reach webhooks: after the commit, signed, again if need be, and nowhere that is private."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import connection, transaction
from django.test import override_settings
from django.utils import timezone

from apcore import Context, Event, ModuleAnnotations, module
from apcore.errors import ModuleError
from apcore.events.webhooks import is_authentic
from django_apcore import runtime as runtime_room
from django_apcore.models import ApprovalRequest, AuditEntry, OutboxMessage, WebhookSubscriber
from django_apcore.runtime import Runtime
from django_apcore.secrets import decrypt, encrypt
from django_apcore.services import (
    approve,
    cancel,
    deliver_webhooks,
    execute_approved,
    reject,
    retry_delivery,
    toggle,
)
from django_apcore.testing import allow_all, override_runtime
from tests.apcore.events.webhooks.receivers import Receiver, receiver, status
from tests.django_apcore.stage import MODULES, ask

SECRET = "a secret for signatures"
Subscribe = Callable[..., WebhookSubscriber]

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def allow_private() -> Iterator[None]:
    with override_settings(APCORE={**settings.APCORE, "WEBHOOK_ALLOW_PRIVATE": True, "WEBHOOK_ATTEMPTS": 3}):
        yield


@pytest.fixture
def runtime(allow_private: None, db: None) -> Iterator[Runtime]:
    with override_runtime(modules=MODULES, installed=False, acl=allow_all()) as built:
        yield built


@pytest.fixture
def there() -> Iterator[Receiver]:
    with receiver() as there:
        yield there


@pytest.fixture
def subscribe(there: Receiver) -> Subscribe:
    def make(name: str = "orders", **columns: Any) -> WebhookSubscriber:
        columns = {"url": there.url, "secret_encrypted": encrypt(SECRET), **columns}
        return WebhookSubscriber.objects.create(name=name, **columns)

    return make


@pytest.fixture
def commit(django_capture_on_commit_callbacks: Any) -> Any:
    return lambda: django_capture_on_commit_callbacks(execute=True)


def waiting() -> list[str]:
    return list(OutboxMessage.objects.filter(kind="webhook").order_by("created_at").values_list("subject", flat=True))


def become_due() -> None:
    OutboxMessage.objects.update(next_attempt_at=timezone.now() - timedelta(seconds=1))


def test_a_decision_reaches_the_receiver_signed(
    runtime: Runtime, subscribe: Subscribe, there: Receiver, requester: User, approver: User, commit: Any
) -> None:
    webhook = subscribe(types=["apcore.approval.*"])
    with commit():
        request = ask(runtime, requester, "test.groups.plan", name="new")
        approve(request.pk, actor=approver, seen_digest=request.effect_digest)
    assert deliver_webhooks() == 3
    assert [each.headers["Apcore-Event-Type"] for each in there.deliveries] == [
        "apcore.approval.requested",
        "apcore.approval.pending",
        "apcore.approval.granted",
    ]
    granted = there.deliveries[-1]
    assert is_authentic(SECRET, granted.body, granted.headers)
    told = json.loads(granted.body)
    assert told["data"] == {
        "module_id": "test.groups.plan",
        "approval_id": str(request.pk),
        "decided_by": approver.get_username(),
    }
    assert told["trace_id"] == request.trace_id
    assert told["event_id"] == granted.headers["Idempotency-Key"]
    webhook.refresh_from_db()
    assert webhook.last_delivered_at is not None
    assert deliver_webhooks() == 0


@pytest.mark.parametrize("secret_place", ["payload_encrypted", "subject", "idempotency_key", "last_error"])
def test_neither_secret_nor_content_is_readable_in_the_row(
    runtime: Runtime, subscribe: Subscribe, pending: ApprovalRequest, secret_place: str
) -> None:
    webhook = subscribe()
    runtime.app.events.emit(Event("billing.invoice", {"text": "confidential"}))
    [message] = OutboxMessage.objects.filter(subject="billing.invoice")
    assert "confidential" not in getattr(message, secret_place)
    assert SECRET not in webhook.secret_encrypted


def test_every_decision_has_its_event(
    runtime: Runtime, subscribe: Subscribe, requester: User, approver: User, commit: Any
) -> None:
    subscribe(types=["apcore.approval.*"])
    with commit():
        refused = ask(runtime, requester, "test.groups.plan", name="one")
        reject(refused.pk, actor=approver, reason="no", seen_digest=refused.effect_digest)
        withdrawn = ask(runtime, requester, "test.groups.plan", name="two")
        cancel(withdrawn.pk, actor=requester)
    asked = ["apcore.approval.requested", "apcore.approval.pending"]
    assert waiting() == [*asked, "apcore.approval.denied", *asked, "apcore.approval.cancelled"]


def test_nothing_is_stored_for_a_decision_that_is_rolled_back(
    runtime: Runtime, subscribe: Subscribe, pending: ApprovalRequest, approver: User
) -> None:
    subscribe()
    with transaction.atomic():
        approve(pending.pk, actor=approver, seen_digest=pending.effect_digest)
        assert waiting() == ["apcore.approval.granted"]
        transaction.set_rollback(True)
    assert waiting() == []


def test_the_row_is_there_before_the_commit_and_only_once_after_it(
    runtime: Runtime, subscribe: Subscribe, commit: Any
) -> None:
    subscribe()
    with commit():
        toggle("test.plain.echo", enabled=False, actor=None)
        assert waiting() == ["apcore.module.toggled"]
    assert waiting() == ["apcore.module.toggled"]


@pytest.mark.parametrize(
    ("columns", "is_wanted"),
    [
        ({}, True),
        ({"types": ["billing.*"]}, True),
        ({"types": ["apcore.*"]}, False),
        ({"min_severity": "error"}, False),
        ({"min_severity": "warn"}, True),
        ({"modules": ["shop.*"]}, True),
        ({"modules": ["other.*"]}, False),
        ({"enabled": False}, False),
    ],
)
def test_a_webhook_hears_of_what_it_asked_for(
    runtime: Runtime, subscribe: Subscribe, columns: dict[str, Any], is_wanted: bool
) -> None:
    subscribe(**columns)
    runtime.app.events.emit(Event("billing.invoice", module_id="shop.pay", severity="warn"))
    assert bool(waiting()) is is_wanted


def test_secrets_in_the_data_do_not_leave(runtime: Runtime, subscribe: Subscribe, there: Receiver) -> None:
    subscribe()
    runtime.app.events.emit(Event("billing.invoice", {"card": {"api_key": "hunter22"}}))
    assert deliver_webhooks() == 1
    assert b"hunter22" not in there.deliveries[0].body


def test_what_fails_is_tried_again_later_and_ever_later(runtime: Runtime, subscribe: Subscribe) -> None:
    with receiver(status(503, 503, 200)) as flaky:
        webhook = subscribe(url=flaky.url)
        runtime.app.events.emit(Event("a.b"))
        assert deliver_webhooks() == 0
        message = OutboxMessage.objects.get()
        assert message.last_error == "answered with status 503"
        assert timedelta(seconds=10) < message.next_attempt_at - timezone.now() < timedelta(seconds=16)
        assert deliver_webhooks() == 0
        become_due()
        assert deliver_webhooks() == 0
        message.refresh_from_db()
        assert message.next_attempt_at - timezone.now() > timedelta(seconds=20)
        webhook.refresh_from_db()
        assert (webhook.failures, webhook.last_error) == (2, "answered with status 503")
        become_due()
        assert deliver_webhooks() == 1
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.last_error) == (0, "")
    assert len({each.headers["Apcore-Event-Id"] for each in flaky.deliveries}) == 1


def test_after_the_last_attempt_it_is_a_dead_letter_that_others_hear_of(
    runtime: Runtime, subscribe: Subscribe, commit: Any
) -> None:
    heard: list[Event] = []
    with receiver(status(500)) as broken:
        subscribe("broken", url=broken.url)
        subscribe("well", types=["apcore.events.*"])
        runtime.app.events.subscribe(heard.append, types=["apcore.events.*"])
        runtime.app.events.emit(Event("a.b"))
        with commit():
            for _ in range(5):
                become_due()
                deliver_webhooks()
    assert len(broken.deliveries) == 3
    message = OutboxMessage.objects.get(subject="a.b")
    assert message.abandoned_at is not None
    assert message.delivered_at is None
    [letter] = heard
    assert letter.data["subscriber"] == "broken"
    assert letter.data["attempts"] == 3
    assert letter.data["event_id"] == message.idempotency_key.partition(":")[0]
    told = OutboxMessage.objects.filter(subject="apcore.events.dead_letter")
    assert [each.subscriber.name for each in told if each.subscriber] == ["well"]


def test_a_dead_letter_that_cannot_be_delivered_makes_no_other(
    runtime: Runtime, subscribe: Subscribe, commit: Any
) -> None:
    with receiver(status(410)) as gone:
        subscribe("one", url=gone.url)
        subscribe("two", url=gone.url, types=["apcore.events.*"])
        runtime.app.events.emit(Event("a.b"))
        for _ in range(3):
            with commit():
                become_due()
                deliver_webhooks()
    assert sorted(waiting()) == ["a.b", "apcore.events.dead_letter"]
    assert OutboxMessage.objects.filter(abandoned_at=None).count() == 0


def test_a_dead_letter_can_be_tried_again_once_and_the_trail_tells_by_whom(
    runtime: Runtime, subscribe: Subscribe, approver: User
) -> None:
    with receiver(status(410, 200)) as there:
        webhook = subscribe(url=there.url)
        runtime.app.events.emit(Event("a.b"))
        assert deliver_webhooks() == 0
        dead = OutboxMessage.objects.get(subject="a.b")
        assert [retry_delivery(dead, actor=approver) for _ in range(2)] == [True, False]
        assert deliver_webhooks() == 1
    entry = AuditEntry.objects.get(kind="webhook.retried")
    assert (entry.subject, entry.actor_id) == (f"webhook:{webhook.pk}", str(approver.pk))
    assert entry.data == {
        "event_id": dead.idempotency_key.partition(":")[0],
        "type": "a.b",
        "last_error": "answered with status 410",
    }


def test_a_receiver_that_is_away_holds_up_nobody_else(runtime: Runtime, subscribe: Subscribe, there: Receiver) -> None:
    with receiver(status(500)) as broken:
        subscribe("broken", url=broken.url)
        subscribe("well")
        for number in range(4):
            runtime.app.events.emit(Event(f"a.n{number}"))
        assert deliver_webhooks() == 4
    assert len(broken.deliveries) == 1
    assert len(there.deliveries) == 4


def test_text_that_is_no_unicode_is_delivered_all_the_same(
    runtime: Runtime, subscribe: Subscribe, there: Receiver
) -> None:
    subscribe()
    runtime.app.events.emit(Event("shop.ordered", {"note": "half of \ud83d"}))
    assert deliver_webhooks() == 1
    assert json.loads(there.deliveries[0].body)["data"] == {"note": "half of ?"}


def test_a_message_that_cannot_be_sent_keeps_no_other(runtime: Runtime, subscribe: Subscribe, there: Receiver) -> None:
    broken, _whole = subscribe(name="broken", secret_encrypted=encrypt({"no": "text"})), subscribe(name="whole")
    for attempt in range(1, 4):
        runtime.app.events.emit(Event("shop.ordered", {"attempt": attempt}))
        become_due()
        assert deliver_webhooks() == 1
    broken.refresh_from_db()
    assert (broken.failures, broken.last_error) == (3, "cannot be sent (AttributeError)")
    assert OutboxMessage.objects.exclude(abandoned_at=None).get().subscriber == broken


def test_what_is_switched_off_waits(runtime: Runtime, subscribe: Subscribe, there: Receiver) -> None:
    webhook = subscribe()
    runtime.app.events.emit(Event("a.b"))
    WebhookSubscriber.objects.update(enabled=False)
    assert deliver_webhooks() == 0
    assert there.deliveries == []
    webhook.enabled = True
    webhook.save()
    assert deliver_webhooks() == 1


def test_private_addresses_are_not_reached_unless_allowed(
    runtime: Runtime, subscribe: Subscribe, there: Receiver
) -> None:
    subscribe()
    runtime.app.events.emit(Event("a.b"))
    with override_settings(APCORE={**settings.APCORE, "WEBHOOK_ALLOW_PRIVATE": False}):
        assert deliver_webhooks() == 0
    assert there.deliveries == []
    message = OutboxMessage.objects.get(subject="a.b")
    assert message.abandoned_at is not None
    assert "not a public address" in message.last_error


def test_a_secret_that_cannot_be_decrypted_sends_nothing(
    runtime: Runtime, subscribe: Subscribe, there: Receiver
) -> None:
    subscribe(secret_encrypted="lost")
    runtime.app.events.emit(Event("a.b"))
    assert deliver_webhooks() == 0
    assert there.deliveries == []
    assert "decrypted" in OutboxMessage.objects.get(subject="a.b").last_error


def test_without_webhooks_an_event_costs_one_query(runtime: Runtime, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        runtime.app.events.emit(Event("a.b"))


def test_an_event_of_a_call_leaves_when_it_is_committed_and_a_rehearsal_sends_none(
    runtime: Runtime, subscribe: Subscribe, commit: Any
) -> None:
    @module(id="test.tell", effect="transactional")
    def tell(fail: bool) -> dict[str, Any]:
        """Tell of something, and fail perhaps"""
        Group.objects.create(name="told")
        runtime.app.events.emit(Event("billing.invoice"))
        if fail:
            raise ValueError
        return {"told": True}

    subscribe(types=["billing.*"])
    heard: list[Event] = []
    runtime.app.events.subscribe(heard.append, types=["billing.*"])
    runtime.registry.register("test.tell", tell)

    preview = runtime.executor.validate("test.tell", {"fail": False})
    assert preview.valid
    with pytest.raises(ModuleError):
        runtime.executor.call("test.tell", {"fail": True})
    assert (heard, waiting()) == ([], [])

    with commit():
        runtime.executor.call("test.tell", {"fail": False})
        assert heard == []
    assert [event.type for event in heard] == waiting() == ["billing.invoice"]


class Died(BaseException):
    """The process ends here."""


@pytest.mark.django_db(transaction=True, databases="__all__")
@pytest.mark.parametrize("is_approved", [False, True], ids=["called", "approved"])
def test_an_event_of_a_call_survives_a_process_that_dies_after_the_commit(
    runtime: Runtime,
    subscribe: Subscribe,
    requester: User,
    approver: User,
    monkeypatch: pytest.MonkeyPatch,
    is_approved: bool,
    queue: Any,
) -> None:
    @module(id="test.tell", effect="transactional", annotations=ModuleAnnotations(requires_approval=is_approved))
    def tell() -> None:
        """Tell of something"""
        Group.objects.create(name="told")
        runtime.app.events.emit(Event("billing.invoice", {"api_key": "hunter22"}))

    def die(*arguments: Any) -> None:
        raise Died

    subscribe(types=["billing.*"])
    runtime.registry.register("test.tell", tell)
    if is_approved:
        request = ask(runtime, requester, "test.tell")
        approve(request.pk, actor=approver, seen_digest=request.effect_digest)
    monkeypatch.setattr("django_apcore.runner.HeldEvents.release", die)
    with pytest.raises(Died):
        execute_approved(request.pk) if is_approved else runtime.executor.call("test.tell", {})
    assert Group.objects.filter(name="told").exists()
    [message] = OutboxMessage.objects.filter(subject="billing.invoice")
    assert "hunter22" not in decrypt(message.payload_encrypted)["body"]


def test_an_event_of_a_call_shares_the_fate_of_the_callers_transaction(runtime: Runtime, subscribe: Subscribe) -> None:
    @module(id="test.tell", effect="transactional")
    def tell() -> None:
        """Tell of something"""
        runtime.app.events.emit(Event("billing.invoice"))

    @module(id="test.pass_on", effect="transactional")
    def pass_on(context: Context) -> None:
        """Let another module tell of it"""
        context.executor.call("test.tell", {}, context)
        assert waiting() == []

    subscribe(types=["billing.*"])
    runtime.registry.register("test.tell", tell)
    runtime.registry.register("test.pass_on", pass_on)
    with transaction.atomic():
        runtime.executor.call("test.pass_on", {})
        assert waiting() == ["billing.invoice"]
        transaction.set_rollback(True)
    assert waiting() == []


def test_a_stored_delivery_survives_the_process(runtime: Runtime, subscribe: Subscribe, there: Receiver) -> None:
    """Nothing is kept in memory: whoever reads the table next can deliver."""
    subscribe()
    runtime.app.events.emit(Event("a.b", {"n": 1}))
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM django_apcore_outboxmessage WHERE delivered_at IS NULL")
        assert cursor.fetchone() == (1,)
    runtime_room.reset()
    assert deliver_webhooks() == 1
    assert json.loads(there.deliveries[0].body)["data"] == {"n": 1}
