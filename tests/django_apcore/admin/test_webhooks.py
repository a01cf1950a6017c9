"""Webhooks in the admin: the secret goes in and does not come out."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from django_apcore.models import AuditEntry, OutboxMessage, WebhookSubscriber
from django_apcore.secrets import decrypt, encrypt

pytestmark = pytest.mark.django_db(databases="__all__")
WEBHOOKS = "/admin/django_apcore/webhooksubscriber/"
OUTBOX = "/admin/django_apcore/outboxmessage/"
SECRET = "a secret for signatures"


def form(**changes: Any) -> dict[str, Any]:
    return {
        "name": "orders",
        "enabled": "on",
        "url": "https://93.184.216.34/hooks/orders",
        "secret": SECRET,
        "types": "apcore.approval.*\nbilling.*",
        "min_severity": "warn",
        "modules": "",
        **changes,
    }


@pytest.fixture
def webhook() -> WebhookSubscriber:
    return WebhookSubscriber.objects.create(
        name="orders", url="https://93.184.216.34/hooks/orders", secret_encrypted=encrypt(SECRET)
    )


@pytest.fixture
def dead(webhook: WebhookSubscriber) -> OutboxMessage:
    return OutboxMessage.objects.create(
        kind="webhook",
        payload_encrypted=encrypt({"event_id": "e", "type": "a.b", "body": "confidential"}),
        idempotency_key="e:1",
        subscriber=webhook,
        subject="a.b",
        attempts=12,
        abandoned_at=timezone.now(),
        last_error="answered with status 500",
    )


def test_a_webhook_is_added(admin_client: Client, admin_user: User) -> None:
    assert admin_client.post(f"{WEBHOOKS}add/", form()).status_code == 302
    saved = WebhookSubscriber.objects.get()
    assert (saved.types, saved.modules) == (["apcore.approval.*", "billing.*"], [])
    assert decrypt(saved.secret_encrypted) == SECRET
    assert AuditEntry.objects.get(kind="webhook.saved").actor_id == str(admin_user.pk)


def test_the_secret_does_not_come_out_and_stays_if_none_is_given(
    admin_client: Client, webhook: WebhookSubscriber
) -> None:
    page = admin_client.get(f"{WEBHOOKS}{webhook.pk}/change/").content.decode()
    assert SECRET not in page
    assert webhook.secret_encrypted not in page
    assert admin_client.post(f"{WEBHOOKS}{webhook.pk}/change/", form(secret="", name="new")).status_code == 302
    webhook.refresh_from_db()
    assert webhook.name == "new"
    assert decrypt(webhook.secret_encrypted) == SECRET


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"url": "https://127.0.0.1/"}, "url"),
        ({"url": "https://169.254.169.254/latest"}, "url"),
        ({"secret": ""}, "secret"),
        ({"secret": "short"}, "secret"),
        ({"types": ""}, "types"),
    ],
)
def test_what_cannot_be_saved_is_said_beside_its_field(
    admin_client: Client, changes: dict[str, Any], field: str
) -> None:
    response = admin_client.post(f"{WEBHOOKS}add/", form(**changes))
    assert field in response.context["adminform"].form.errors
    assert not WebhookSubscriber.objects.exists()


def test_a_webhook_is_deleted_with_what_waits_for_it(admin_client: Client, dead: OutboxMessage) -> None:
    assert dead.subscriber is not None
    url = f"{WEBHOOKS}{dead.subscriber.pk}/delete/"
    assert admin_client.post(url, {"post": "yes"}).status_code == 302
    assert not WebhookSubscriber.objects.exists()
    assert not OutboxMessage.objects.exists()
    assert AuditEntry.objects.filter(kind="webhook.deleted").exists()


def test_dead_letters_can_be_seen_and_tried_again(admin_client: Client, dead: OutboxMessage) -> None:
    page = admin_client.get(OUTBOX).content.decode()
    assert "given up" in page
    assert "answered with status 500" in page
    page = admin_client.get(f"{OUTBOX}{dead.pk}/change/").content.decode()
    assert "confidential" not in page
    assert dead.payload_encrypted not in page
    admin_client.post(OUTBOX, {"action": "try_again", "_selected_action": [str(dead.pk)]})
    dead.refresh_from_db()
    assert (dead.abandoned_at, dead.attempts) == (None, 0)


def test_who_may_only_look_cannot_try_again(client: Client, dead: OutboxMessage) -> None:
    viewer = User.objects.create_user("vera", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_outboxmessage"))
    client.force_login(viewer)
    assert client.get(OUTBOX).status_code == 200
    client.post(OUTBOX, {"action": "try_again", "_selected_action": [str(dead.pk)]})
    dead.refresh_from_db()
    assert dead.abandoned_at is not None
    assert client.get(WEBHOOKS).status_code == 403


def test_the_list_tells_how_it_goes(admin_client: Client, webhook: WebhookSubscriber) -> None:
    WebhookSubscriber.objects.update(failures=3, last_error="answered with status 500")
    WebhookSubscriber.objects.create(name="off", url="https://x.example/", secret_encrypted="x", enabled=False)
    page = admin_client.get(WEBHOOKS).content.decode()
    assert "failing" in page
    assert "answered with status 500" in page
    assert "hooks/orders" not in page


def test_who_may_only_look_sees_the_host_and_not_the_path_which_may_be_a_secret(
    client: Client, admin_client: Client, webhook: WebhookSubscriber
) -> None:
    viewer = User.objects.create_user("vera", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_webhooksubscriber"))
    client.force_login(viewer)
    address = f"{WEBHOOKS}{webhook.pk}/change/"
    page = client.get(address).content.decode()
    assert "93.184.216.34" in page
    assert "hooks/orders" not in page
    assert "hooks/orders" not in client.get(WEBHOOKS).content.decode()
    assert client.post(address, form()).status_code == 403
    assert "hooks/orders" in admin_client.get(address).content.decode()


def test_a_long_error_is_folded_in_the_list(admin_client: Client) -> None:
    error = "ConnectionError: " + "no answer; " * 30
    OutboxMessage.objects.create(
        kind=OutboxMessage.Kind.WEBHOOK, payload_encrypted=encrypt("{}"), attempts=2, last_error=error
    )
    page = admin_client.get(OUTBOX).content.decode()
    assert '<details class="apcore-fold"><summary>ConnectionError: no answer' in page
    assert "2 attempts" in page
    assert error.strip() in page


@pytest.mark.parametrize(("state", "subjects"), [("waiting", {"w"}), ("delivered", {"d"}), ("abandoned", {"a.b"})])
def test_the_outbox_is_narrowed_to_a_state(
    admin_client: Client, dead: OutboxMessage, state: str, subjects: set[str]
) -> None:
    OutboxMessage.objects.create(kind="mail", payload_encrypted="", idempotency_key="w", subject="w")
    now = timezone.now()
    OutboxMessage.objects.create(kind="mail", payload_encrypted="", idempotency_key="d", subject="d", delivered_at=now)

    listed = admin_client.get(OUTBOX, {"state": state}).context["cl"].result_list

    assert {message.subject for message in listed} == subjects
