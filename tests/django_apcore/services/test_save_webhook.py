import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from apcore.errors import InvalidInputError
from django_apcore.models import AuditEntry, OutboxMessage, WebhookSubscriber
from django_apcore.secrets import decrypt
from django_apcore.services import delete_webhook, save_webhook

SECRET = "a secret for signatures"

pytestmark = pytest.mark.django_db(databases="__all__")


def row(**columns: object) -> WebhookSubscriber:
    return WebhookSubscriber(**{"name": "orders", "url": "https://93.184.216.34/hook", **columns})


def test_a_webhook_is_saved_with_its_secret_encrypted_and_an_audit_entry(approver: User) -> None:
    saved = save_webhook(row(), secret=SECRET, actor=approver)
    assert decrypt(WebhookSubscriber.objects.get(pk=saved.pk).secret_encrypted) == SECRET
    entry = AuditEntry.objects.get(kind="webhook.saved")
    assert entry.data["secret_changed"] is True
    assert SECRET not in str(entry.data)
    assert (entry.data["host"], entry.data["before"]) == ("https://93.184.216.34", None)


def test_the_audit_entry_tells_that_the_address_was_changed_and_not_what_it_holds(approver: User) -> None:
    saved = save_webhook(row(url="https://93.184.216.34/first-secret"), secret=SECRET, actor=approver)
    saved.url, saved.min_severity = "http://93.184.216.35:8443/second-secret?key=third-secret", "error"
    save_webhook(saved, actor=approver)
    saved.url = "http://93.184.216.35:8443/fourth-secret"
    save_webhook(saved, actor=approver)
    save_webhook(saved, actor=approver)
    told = [entry.data for entry in AuditEntry.objects.filter(kind="webhook.saved").order_by("sequence")]
    assert [each["host"] for each in told] == ["https://93.184.216.34", *["http://93.184.216.35:8443"] * 3]
    assert told[1]["before"] == {**{name: told[0][name] for name in told[1]["before"]}}
    assert (told[1]["min_severity"], told[1]["before"]["min_severity"]) == ("error", "info")
    assert [each["address_changed"] for each in told] == [True, True, True, False]
    assert "secret" not in str([{**each, "secret_changed": None} for each in told]).replace("secret_changed", "")


def test_without_a_new_secret_the_old_one_stays(approver: User) -> None:
    saved = save_webhook(row(), secret=SECRET, actor=approver)
    before = saved.secret_encrypted
    saved.enabled = False
    save_webhook(saved, actor=approver)
    assert WebhookSubscriber.objects.get().secret_encrypted == before


def test_what_happened_to_it_while_somebody_edited_it_stays(approver: User) -> None:
    pk = save_webhook(row(), secret=SECRET, actor=approver).pk
    edited, other = (WebhookSubscriber.objects.get(pk=pk) for _ in range(2))
    save_webhook(other, secret="a secret that was set meanwhile", actor=approver)
    WebhookSubscriber.objects.update(failures=3, last_error="answered with status 503")
    edited.enabled = False
    save_webhook(edited, actor=approver)
    found = WebhookSubscriber.objects.get()
    assert (found.enabled, found.failures, found.last_error) == (False, 3, "answered with status 503")
    assert decrypt(found.secret_encrypted) == "a secret that was set meanwhile"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://user:password@93.184.216.34:8443/hook", "https://93.184.216.34:8443"),
        ("https://[2606:2800:220:1::34]:8443/hook", "https://[2606:2800:220:1::34]:8443"),
    ],
)
def test_of_an_address_the_trail_tells_the_host_and_no_user(url: str, host: str) -> None:
    WebhookSubscriber.objects.create(name="orders", url=url, secret_encrypted="x")
    delete_webhook(WebhookSubscriber.objects.get(), actor=None)
    assert AuditEntry.objects.get(kind="webhook.deleted").data["host"] == host


@pytest.mark.parametrize("secret", [None, "", "short"])
def test_a_webhook_needs_a_good_secret(secret: str | None) -> None:
    with pytest.raises(InvalidInputError, match="secret"):
        save_webhook(row(), secret=secret, actor=None)
    assert not WebhookSubscriber.objects.exists()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "https://[::1]/",
        "https://169.254.169.254/latest",
        "ftp://93.184.216.34/",
        f"https://{'a' * 64}.example/",
        "no",
    ],
)
def test_an_address_that_must_not_be_reached_is_refused_at_once(url: str) -> None:
    with pytest.raises(InvalidInputError):
        save_webhook(row(url=url), secret=SECRET, actor=None)


def test_a_name_that_nobody_knows_yet_is_fine() -> None:
    save_webhook(row(url="https://soon.invalid/"), secret=SECRET, actor=None)
    assert WebhookSubscriber.objects.exists()


@pytest.mark.parametrize("columns", [{"types": "apcore.*"}, {"types": [1]}, {"modules": [""]}, {"modules": {"a": 1}}])
def test_patterns_are_lists_of_texts(columns: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match="list of patterns"):
        save_webhook(row(**columns), secret=SECRET, actor=None)


def test_a_webhook_that_is_deleted_leaves_an_audit_entry(approver: User) -> None:
    saved = save_webhook(row(), secret=SECRET, actor=approver)
    subject, now = f"webhook:{saved.pk}", timezone.now()
    for number, state in enumerate([{}, {}, {"abandoned_at": now}, {"delivered_at": now}]):
        OutboxMessage.objects.create(
            kind="webhook", payload_encrypted="x", idempotency_key=str(number), subscriber=saved, **state
        )
    delete_webhook(saved, actor=approver)
    assert not WebhookSubscriber.objects.exists()
    entry = AuditEntry.objects.get(kind="webhook.deleted", subject=subject)
    assert entry.data["deliveries"] == {"delivered": 1, "given_up": 1, "waiting": 2}
