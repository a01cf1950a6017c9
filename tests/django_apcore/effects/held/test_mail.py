"""Mail is shown in the preview, and leaves after the commit as the module wrote it."""

from contextlib import suppress
from email.message import EmailMessage as PlainMessage
from email.mime.image import MIMEImage
from typing import Any

import pytest
from django.core import mail
from django.core.mail import (
    EmailMessage,
    EmailMultiAlternatives,
    get_connection,
    mail_admins,
    send_mail,
    send_mass_mail,
)
from django.core.mail.backends.locmem import EmailBackend
from django.test import override_settings
from django.utils.translation import gettext_lazy

from django_apcore.effects import UnholdableMessageError
from django_apcore.models import OutboxMessage
from django_apcore.services import deliver_outbox
from tests.django_apcore.effects.runs import Write, execute, execute_approved, only_change, preview
from tests.matrix.models import Document, Tag

pytestmark = [
    pytest.mark.django_db(transaction=True, databases="__all__"),
    # Newer versions of Django want both in another form, which 5.2 does not know.
    pytest.mark.filterwarnings("ignore:MIMEBase attachments are deprecated"),
    pytest.mark.filterwarnings("ignore:Using .name, address. pairs in the ADMINS setting is deprecated"),
]


@pytest.fixture(autouse=True)
def empty_outbox() -> Any:
    mail.outbox = []
    yield
    OutboxMessage.objects.all().delete()


class StampedBackend(EmailBackend):
    """A backend with a constructor of its own."""

    def __init__(self, stamp: str = "none", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stamp = stamp

    def send_messages(self, messages: Any) -> int:
        for message in messages:
            message.extra_headers = {**message.extra_headers, "X-Stamp": self.stamp}
        return int(super().send_messages(messages))


class TaggedMessage(EmailMessage):
    """A message with data of its own, as third-party packages have them."""


def plain() -> None:
    assert send_mail("Subject", "Body", "from@example.com", ["to@example.com"]) == 1


def with_everything() -> None:
    message = EmailMultiAlternatives(
        gettext_lazy("Subject"),
        "Body",
        "Shop <from@example.com>",
        ["to@example.com"],
        bcc=["bcc@example.com"],
        cc=["cc@example.com"],
        reply_to=["reply@example.com"],
        headers={"X-One": "1"},
    )
    message.attach_alternative("<p>Body</p>", "text/html")
    message.attach("notes.txt", "text", "text/plain")
    message.attach("data.bin", b"\x00\xff", "application/octet-stream")
    message.attach(MIMEImage(b"GIF89a", _subtype="gif"))
    assert message.send() == 1


def test_a_preview_shows_and_sends_nothing() -> None:
    record = preview(plain)
    change = only_change(record)
    assert (change.action, change.target) == ("send", "mail:to@example.com")
    assert change.summary == "Send mail to to@example.com: Subject"
    assert change.after == {
        "subject": "Subject",
        "body": "Body",
        "from": "from@example.com",
        "to": ["to@example.com"],
    }
    assert record.counts == {"mail:send": 1}
    assert mail.outbox == []
    assert not OutboxMessage.objects.exists()


def test_all_parts_of_a_message_are_shown() -> None:
    change = only_change(preview(with_everything))
    assert change.target == "mail:bcc@example.com, cc@example.com, to@example.com"
    assert change.after["alternatives"] == [{"type": "text/html", "content": "<p>Body</p>"}]
    names = [(each["name"], each["type"]) for each in change.after["attachments"]]
    assert names == [("notes.txt", "text/plain"), ("data.bin", "application/octet-stream"), (None, "image/gif")]
    assert change.after["attachments"][1]["content"]["$binary"]["bytes"] == 2
    assert change.after["headers"] == {"X-One": "1"}


@pytest.mark.parametrize("write", [plain, with_everything])
def test_it_leaves_after_the_commit_as_it_was_written(write: Write) -> None:
    write()
    [expected] = mail.outbox
    mail.outbox = []

    execute_approved(write, preview(write).digest)
    assert mail.outbox == []
    assert deliver_outbox() == 1
    [sent] = mail.outbox
    assert parts(sent) == parts(expected)
    assert deliver_outbox() == 0


def parts(message: EmailMessage) -> Any:
    """The message as it goes out, without what every sending makes anew."""
    whole = message.message()
    for name in ("Message-ID", "Date"):
        del whole[name]
    walked = [(part.get_content_type(), part.get_filename(), part.get_payload(decode=True)) for part in whole.walk()]
    return sorted(whole.items()), walked, sorted(message.recipients())


def test_nothing_leaves_when_the_block_fails() -> None:
    def fail() -> None:
        plain()
        raise ZeroDivisionError

    with suppress(ZeroDivisionError):
        execute(fail)
    assert not OutboxMessage.objects.exists()


def test_a_message_delivered_twice_can_be_recognised() -> None:
    execute(plain)
    deliver_outbox()
    OutboxMessage.objects.update(delivered_at=None, next_attempt_at=OutboxMessage.objects.get().created_at)
    deliver_outbox()
    first, second = (message.message()["Message-ID"] for message in mail.outbox)
    assert first == second
    assert first.endswith("@example.com>")


def test_many_messages_keep_their_order() -> None:
    def write() -> None:
        messages = [(f"s{number}", "b", None, [f"to{number}@example.com"]) for number in range(3)]
        assert send_mass_mail(messages) == 3

    assert preview(write).counts == {"mail:send": 3}
    execute(write)
    assert deliver_outbox() == 3
    assert [message.subject for message in mail.outbox] == ["s0", "s1", "s2"]


@override_settings(ADMINS=[("Ada", "ada@example.com")])
def test_mail_to_admins() -> None:
    change = only_change(preview(lambda: mail_admins("Trouble", "b")))
    assert change.target == "mail:ada@example.com"


def test_a_message_to_nobody_is_nothing() -> None:
    def write() -> None:
        assert EmailMessage("s", "b").send() == 0
        assert get_connection().send_messages([EmailMessage("s", "b")]) == 0

    assert preview(write).total == 0


def test_a_broken_header_fails_where_it_is_written() -> None:
    with pytest.raises(ValueError, match=r"newlines|linefeed"):
        preview(lambda: send_mail("one\ntwo", "b", None, ["to@example.com"]))


def test_an_explicit_backend_is_used_again() -> None:
    path = f"{__name__}.StampedBackend"

    def write() -> None:
        with get_connection(path, stamp="secret") as connection:
            EmailMessage("s", "b", to=["to@example.com"], connection=connection).send()

    change = only_change(preview(write))
    assert change.after["backend"]["path"] == path
    assert "secret" not in str(change.to_dict())
    execute(write)
    deliver_outbox()
    assert mail.outbox[0].extra_headers["X-Stamp"] == "secret"


def test_a_backend_made_before_the_run_holds_too() -> None:
    connection = get_connection()
    preview(lambda: connection.send_messages([EmailMessage("s", "b", to=["to@example.com"])]))
    assert mail.outbox == []
    connection.send_messages([EmailMessage("s", "b", to=["to@example.com"])])
    assert len(mail.outbox) == 1


def test_no_connection_is_opened_in_a_run() -> None:
    smtp = get_connection(
        "django.core.mail.backends.smtp.EmailBackend", host="mail.invalid", username="u", password="p"
    )

    def write() -> None:
        with smtp:
            smtp.send_messages([EmailMessage("s", "b", to=["to@example.com"])])

    change = only_change(preview(write))
    assert change.after["backend"]["path"] == "django.core.mail.backends.smtp.EmailBackend"
    execute(write)
    assert '"password"' not in OutboxMessage.objects.get().payload_encrypted


def test_data_of_other_message_classes_is_kept() -> None:
    def write() -> None:
        message = TaggedMessage("s", "b", to=["to@example.com"])
        message.tags = {"campaign": ["spring"]}
        message.send()

    execute(write)
    deliver_outbox()
    assert type(mail.outbox[0]) is TaggedMessage
    assert mail.outbox[0].tags == {"campaign": ["spring"]}


def test_data_that_is_not_plain_is_refused() -> None:
    def write() -> None:
        message = TaggedMessage("s", "b", to=["to@example.com"])
        message.tags = object()
        message.send()

    with pytest.raises(UnholdableMessageError):
        preview(write)


def test_the_same_mail_twice_is_two_changes() -> None:
    assert preview(lambda: (plain(), plain())).total == 2
    assert preview(lambda: (plain(), plain())).digest != preview(plain).digest


def test_an_id_of_a_new_row_in_a_header_is_a_reference() -> None:
    def write() -> None:
        document = Document.objects.create(title="t")
        Tag.objects.create(name="t")
        EmailMessage("s", "b", to=["to@example.com"], headers={"X-Document": str(document.pk)}).send()

    record = preview(write)
    [sent] = [change for change in record.changes if change.action == "send"]
    assert sent.after["headers"]["X-Document"] == {"$ref": "new:matrix.Document#1"}
    execute_approved(write, record.digest)


@pytest.mark.django_from("6.0")  # which takes such parts
def test_a_modern_part_is_kept() -> None:
    part = PlainMessage()
    part.set_content("inside")

    def write() -> None:
        message = EmailMessage("s", "b", to=["to@example.com"])
        message.attachments.append(part)
        message.send()

    execute(write)
    deliver_outbox()
    assert mail.outbox[0].attachments[0].get_content() == "inside\n"
