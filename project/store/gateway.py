"""The payment provider: the one thing the store does that no database transaction can take back.

`connect(url)` gives the client for a URL: `https://…` and `http://…` speak to a provider; `file:///…` keeps a book in a
file instead, for the demo and for tests. Both answer a repeated idempotency key with the receipt of the first time.
"""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from decimal import Decimal
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import unquote, urlsplit

TIMEOUT_SECONDS = 10
REFUSALS = frozenset({400, 402, 404, 409, 422})


class GatewayRefusedError(Exception):
    """The provider said no; nothing was paid."""


class GatewayUnavailableError(Exception):
    """No answer, so whether money moved is not known: ask again with the same idempotency key."""


@dataclass(frozen=True, slots=True)
class Receipt:
    reference: str
    amount: str


class PaymentGateway(Protocol):
    def refund(self, *, charge: str, amount: Decimal, idempotency_key: str) -> Receipt:
        """Pay `amount` back to the card behind `charge`, once per key.

        Raises GatewayRefusedError and GatewayUnavailableError.
        """


def connect(url: str) -> PaymentGateway:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return RecordingGateway(Path(unquote(parts.path)))
    if parts.scheme in {"http", "https"}:
        return HttpGateway(url)
    raise ValueError(f"A payment gateway is an http, https or file URL, not {url!r}")


class HttpGateway:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection_class = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host = parts.netloc
        self._path = parts.path.rstrip("/") + "/refunds"

    def refund(self, *, charge: str, amount: Decimal, idempotency_key: str) -> Receipt:
        body = json.dumps({"charge": charge, "amount": str(amount)})
        status, answer = self._post(body, {"Content-Type": "application/json", "Idempotency-Key": idempotency_key})
        if status in REFUSALS:
            raise GatewayRefusedError(f"The payment gateway refused the refund ({status})")
        if status not in {200, 201}:
            raise GatewayUnavailableError(f"The payment gateway answered {status}")
        return _receipt(answer)

    def _post(self, body: str, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = self._connection_class(self._host, timeout=TIMEOUT_SECONDS)
        try:
            connection.request("POST", self._path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, HTTPException) as error:
            raise GatewayUnavailableError("The payment gateway could not be reached") from error
        finally:
            connection.close()


def _receipt(answer: bytes) -> Receipt:
    try:
        data = json.loads(answer)
        return Receipt(reference=data["reference"], amount=data["amount"])
    except (ValueError, KeyError, TypeError) as error:
        raise GatewayUnavailableError("The payment gateway's answer could not be read") from error


class RecordingGateway:
    """Keeps one JSON line per refund, `{"key", "charge", "reference", "amount"}`, under a lock that processes share."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def refund(self, *, charge: str, amount: Decimal, idempotency_key: str) -> Receipt:
        with self._locked() as book:
            entries = [json.loads(line) for line in book]
            for entry in entries:
                if entry["key"] == idempotency_key:
                    return Receipt(reference=entry["reference"], amount=entry["amount"])
            receipt = Receipt(reference=f"refund-{len(entries) + 1:06d}", amount=str(amount))
            _append(book, {"key": idempotency_key, "charge": charge, **asdict(receipt)})
            return receipt

    @contextmanager
    def _locked(self) -> Iterator[IO[str]]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a+", encoding="utf-8") as book:
            fcntl.flock(book, fcntl.LOCK_EX)
            book.seek(0)
            yield book


def _append(book: IO[str], entry: dict[str, Any]) -> None:
    book.write(json.dumps(entry) + "\n")
    book.flush()
