import json
import socket
import threading
import time
from functools import partial

import pytest

from apcore import Event
from apcore.events.webhooks import DeliveryError, is_authentic, send_webhook, signed_request
from tests.apcore.events.webhooks.receivers import receiver, status

EVENT = Event("billing.invoice_generated", {"n": 1})
send = partial(send_webhook, allow_private=True)


def test_a_receiver_gets_the_event_and_can_check_who_wrote_it():
    with receiver() as there:
        send(signed_request(there.url, "s", EVENT))
    [delivery] = there.deliveries
    assert delivery.path == "/hooks/orders?x=1"
    assert json.loads(delivery.body) == EVENT.to_dict()
    assert is_authentic("s", delivery.body, delivery.headers)
    assert not is_authentic("another", delivery.body, delivery.headers)
    assert delivery.headers["Apcore-Event-Id"] == delivery.headers["Idempotency-Key"] == EVENT.event_id
    assert delivery.headers["Apcore-Event-Type"] == EVENT.type
    assert delivery.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("code", [400, 404, 410, 429, 500, 503])
def test_any_other_answer_is_no_delivery(code):
    with receiver(status(code)) as there, pytest.raises(DeliveryError, match=f"status {code}") as caught:
        send(signed_request(there.url, "s", EVENT))
    assert caught.value.permanent is (code == 410)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(code):
    with (
        receiver() as elsewhere,
        receiver(status(code, Location=elsewhere.url)) as there,
        pytest.raises(DeliveryError, match=f"status {code}"),
    ):
        send(signed_request(there.url, "s", EVENT))
    assert elsewhere.deliveries == []


def test_a_private_address_is_not_reached():
    with receiver() as there, pytest.raises(DeliveryError, match="not a public address") as caught:
        send_webhook(signed_request(there.url, "s", EVENT))
    assert caught.value.permanent
    assert there.deliveries == []
    assert "hooks/orders" not in str(caught.value)


def test_a_name_that_changes_its_address_after_the_check_leads_nowhere_else(monkeypatch):
    """DNS rebinding: the first look-up says public, a second one would say loopback."""
    asked, connected = [], []

    def look_up(host, port, *args, **options):
        asked.append(host)
        address = "93.184.216.34" if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    def connect(address, timeout=None):
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(DeliveryError, match="no answer"):
        send_webhook(signed_request("https://rebind.example/", "s", EVENT))
    assert connected == [("93.184.216.34", 443)]
    assert asked == ["rebind.example"]


def test_a_receiver_that_is_away_is_no_delivery():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        with pytest.raises(DeliveryError, match="ConnectionRefusedError"):
            send(signed_request(url, "s", EVENT))


def test_a_name_that_nobody_knows_is_no_delivery():
    with pytest.raises(DeliveryError) as caught:
        send(signed_request("https://nobody.invalid/", "s", EVENT))
    assert not caught.value.permanent


def silent(handler):
    time.sleep(1.5)


def dripping(handler):
    for _ in range(30):
        handler.wfile.write(b"H")
        time.sleep(0.05)


def endless_headers(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(30):
        handler.wfile.write(b"X: y\r\n")
        time.sleep(0.05)


def endless_body(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(30):
        handler.wfile.write(b"x")
        time.sleep(0.05)


@pytest.mark.parametrize("answer", [silent, dripping, endless_headers])
def test_a_slow_receiver_costs_no_more_than_the_time_out(answer):
    with receiver(answer) as there:
        begin = time.monotonic()
        with pytest.raises(DeliveryError, match="TimeoutError"):
            send(signed_request(there.url, "s", EVENT), timeout=0.3)
        assert time.monotonic() - begin < 1.2


def test_a_name_server_that_does_not_answer_costs_no_more_than_the_time_out(monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, **options: over.wait() and [])
    with pytest.raises(DeliveryError, match=r"no answer \(TimeoutError\)") as caught:
        send(signed_request("https://hooks.example/", "s", EVENT), timeout=0.05)
    assert not caught.value.permanent
    over.set()
    for each in threading.enumerate():
        if each.name == "apcore-look-up":
            each.join()


def test_the_status_is_enough():
    with receiver(endless_body) as there:
        begin = time.monotonic()
        send(signed_request(there.url, "s", EVENT))
        assert time.monotonic() - begin < 1.2


def test_a_long_answer_is_not_read():
    written = []

    def verbose(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(1000):
            written.append(handler.wfile.write(b"x" * 65536))

    with receiver(verbose) as there:
        send(signed_request(there.url, "s", EVENT))
    assert sum(written) < 60_000_000


def test_what_speaks_no_http_is_no_delivery():
    with (
        receiver(lambda handler: handler.wfile.write(b"SSH-2.0-x\r\n")) as there,
        pytest.raises(DeliveryError, match="BadStatusLine"),
    ):
        send(signed_request(there.url, "s", EVENT))


def test_a_certificate_is_checked(tmp_path):
    with receiver() as there, pytest.raises(DeliveryError, match="SSL"):
        send(signed_request(there.url.replace("http:", "https:"), "s", EVENT))


def test_an_event_that_is_too_large_is_not_sent():
    with pytest.raises(DeliveryError, match="more than") as caught:
        signed_request("https://hooks.example/", "s", Event("a.b", {"text": "x" * 300_000}))
    assert caught.value.permanent


def test_deliveries_at_once_do_not_disturb_each_other():
    with receiver() as there:
        threads = [
            threading.Thread(target=lambda: send(signed_request(there.url, "s", Event("a.b")))) for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({each.headers["Apcore-Event-Id"] for each in there.deliveries}) == 16
