"""The payment provider's client, against a real server on this machine and against its file."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from project.store.gateway import GatewayRefusedError, GatewayUnavailableError, HttpGateway, Receipt, connect


class Provider(ThreadingHTTPServer):
    """A payment provider that answers what the test says, and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Requests)
        self.answer: tuple[int, bytes] = (201, b'{"reference": "r-1", "amount": "0.99"}')
        self.requests: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Requests(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({"path": self.path, "key": self.headers["Idempotency-Key"], "body": body})
        status, answer = self.server.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def refund(url: str, key: str = "k-1") -> Receipt:
    return connect(url).refund(charge="invoice-98", amount=Decimal("0.99"), idempotency_key=key)


@pytest.mark.parametrize("status", [400, 402, 404, 409, 422])
def test_a_refusal_is_told_apart_from_silence(provider: Provider, status: int) -> None:
    provider.answer = (status, b"{}")
    with pytest.raises(GatewayRefusedError):
        refund(provider.url)


@pytest.mark.parametrize(
    "answer", [(500, b""), (503, b"{}"), (302, b""), (200, b"<html>"), (200, b"[]"), (200, b'{"reference": "r"}')]
)
def test_any_answer_that_confirms_nothing_leaves_it_open(provider: Provider, answer: tuple[int, bytes]) -> None:
    provider.answer = answer
    with pytest.raises(GatewayUnavailableError):
        refund(provider.url)


def test_nobody_listens() -> None:
    with Provider() as closed:
        url = closed.url
    with pytest.raises(GatewayUnavailableError):
        refund(url)


def test_amount_charge_and_key_reach_the_provider(provider: Provider) -> None:
    assert refund(provider.url) == Receipt("r-1", "0.99")
    body = {"charge": "invoice-98", "amount": "0.99"}
    assert provider.requests == [{"path": "/v1/refunds", "key": "k-1", "body": body}]


def test_the_file_answers_a_repeated_key_with_the_first_receipt(tmp_path: Path) -> None:
    book = tmp_path / "new folder" / "payments.jsonl"
    first, again, other = refund(book.as_uri()), refund(book.as_uri()), refund(book.as_uri(), key="k-2")
    assert first == again != other
    assert [json.loads(line)["key"] for line in book.read_text().splitlines()] == ["k-1", "k-2"]


def test_two_at_once_with_one_key_pay_once(tmp_path: Path) -> None:
    url = (tmp_path / "payments.jsonl").as_uri()
    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(lambda _: refund(url), range(32)))
    assert len(set(receipts)) == 1
    assert len((tmp_path / "payments.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize("url", ["", "ftp://example.com", "payments.jsonl"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="http, https or file URL"):
        connect(url)


def test_https_is_spoken_where_the_url_says_so() -> None:
    assert HttpGateway("https://pay.example.com")._connection_class.__name__ == "HTTPSConnection"
