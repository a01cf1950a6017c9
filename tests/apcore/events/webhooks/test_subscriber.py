from functools import partial

import pytest

from apcore import Event, EventEmitter
from apcore.events.webhooks import Backoff, DeliveryError, WebhookSubscriber, send_webhook
from tests.apcore.events.webhooks.receivers import receiver, status

send = partial(send_webhook, allow_private=True)


@pytest.fixture
def emitter():
    return EventEmitter()


@pytest.fixture
def dead(emitter):
    events = []
    emitter.subscribe(events.append, types=["apcore.events.*"])
    return events


def test_a_receiver_that_recovers_gets_the_event_once_with_one_id(emitter, dead):
    pauses = []
    with receiver(status(503, 500, 204)) as there:
        emitter.subscribe(WebhookSubscriber(there.url, "s", emitter, send=send, pause=pauses.append))
        emitter.emit(Event("a.b"))
        assert emitter.flush(10)
    assert len(there.deliveries) == 3
    assert len({each.headers["Apcore-Event-Id"] for each in there.deliveries}) == 1
    assert pauses == [1.0, 2.0]
    assert dead == []


def test_what_cannot_be_delivered_becomes_an_event(emitter, dead, caplog):
    event = Event("a.b")
    backoff = Backoff(attempts=3, first=0)
    with receiver(status(500)) as there:
        emitter.subscribe(WebhookSubscriber(there.url, "s", emitter, name="orders", send=send, backoff=backoff))
        emitter.emit(event)
        assert emitter.flush(10)
    [letter] = dead
    assert letter.severity == "error"
    assert dict(letter.data) == {
        "event_id": event.event_id,
        "event_type": "a.b",
        "subscriber": "orders",
        "attempts": 3,
        "error": "answered with status 500",
    }
    assert len(there.deliveries) == 3
    assert "hooks/orders" not in caplog.text


def test_a_receiver_is_not_told_that_it_cannot_be_told_but_others_are(emitter, dead):
    with receiver() as other, receiver(status(410)) as there:
        emitter.subscribe(WebhookSubscriber(there.url, "s", emitter, name="gone", send=send))
        emitter.subscribe(WebhookSubscriber(other.url, "s", emitter, name="well", send=send))
        emitter.emit(Event("a.b"))
        assert emitter.flush(10)
        assert emitter.flush(10)
    assert [each.headers["Apcore-Event-Type"] for each in there.deliveries] == ["a.b"]
    assert {each.headers["Apcore-Event-Type"] for each in other.deliveries} == {"a.b", "apcore.events.dead_letter"}
    assert dead[0].data["attempts"] == 1


def test_receivers_that_are_all_away_do_not_tell_each_other_of_it_for_ever(emitter, dead):
    def away(request):
        raise DeliveryError("no answer", permanent=True)

    for name in ("one", "two", "three"):
        emitter.subscribe(WebhookSubscriber("https://hooks.example/", "s", emitter, name=name, send=away))
    emitter.emit(Event("a.b"))
    assert emitter.flush(10)
    assert emitter.flush(10)  # what the first round led to
    assert sorted(letter.data["subscriber"] for letter in dead) == ["one", "three", "two"]
    assert {letter.data["event_type"] for letter in dead} == {"a.b"}


def test_by_default_private_addresses_are_not_reached(emitter, dead):
    with receiver() as there:
        emitter.subscribe(WebhookSubscriber(there.url, "s", emitter))
        emitter.emit(Event("a.b"))
        assert emitter.flush(10)
    assert there.deliveries == []
    assert "public" in dead[0].data["error"]


def test_a_sender_of_your_own_will_do(emitter):
    sent = []
    emitter.subscribe(WebhookSubscriber("https://hooks.example/", "s", emitter, send=sent.append))
    emitter.emit(Event("a.b"))
    assert emitter.flush(10)
    assert sent[0].url == "https://hooks.example/"


def test_pauses_double_up_to_a_limit():
    backoff = Backoff(first=1, longest=10)
    assert [backoff.seconds_after(attempt) for attempt in (1, 2, 3, 4, 5, 2000)] == [1, 2, 4, 8, 10, 10]


def test_an_error_of_the_sender_that_is_none_of_delivery_is_isolated(emitter, caplog):
    def broken(request):
        raise ZeroDivisionError

    emitter.subscribe(WebhookSubscriber("https://hooks.example/", "s", emitter, send=broken))
    emitter.emit(Event("a.b"))
    assert emitter.flush(10)
    assert "ZeroDivisionError" in caplog.text


def test_permanent_failures_are_not_tried_again(emitter, dead):
    tried = []

    def refuse(request):
        tried.append(request)
        raise DeliveryError("never", permanent=True)

    emitter.subscribe(WebhookSubscriber("https://hooks.example/", "s", emitter, send=refuse))
    emitter.emit(Event("a.b"))
    assert emitter.flush(10)
    assert len(tried) == len(dead) == 1
