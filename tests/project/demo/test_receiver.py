"""The other end of the story's webhook."""

import pytest

from apcore import Event
from apcore.events.webhooks import send_webhook, signed_request
from project.demo.receiver import listening_receiver

SECRET = "a secret of two programs"


def test_what_arrives_can_be_told_from_what_somebody_has_changed() -> None:
    with listening_receiver() as receiver:
        request = signed_request(receiver.url, SECRET, Event("billing.invoice_generated", {"number": 7}))
        send_webhook(request, allow_private=True, timeout=5)
        (delivery,) = receiver.wait_for("billing.invoice_generated", 5)

    assert delivery.event["data"] == {"number": 7}
    assert delivery.is_signed_with(SECRET)
    assert not delivery.is_signed_with("another secret")
    assert not delivery.is_signed_after_a_change(SECRET)


def test_an_event_that_never_comes_is_not_waited_for_without_end() -> None:
    with listening_receiver() as receiver, pytest.raises(TimeoutError, match="never was not delivered"):
        receiver.wait_for("never", 0)
