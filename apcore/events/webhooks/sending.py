"""One HTTP request to a receiver: to the address that was checked, bounded in time and size, and never redirected."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic, time
from typing import Any

from apcore.errors import InvalidInputError
from apcore.events.event import Event
from apcore.events.webhooks.addresses import Destination, resolved
from apcore.events.webhooks.signature import EVENT_ID_HEADER, SIGNATURE_HEADER, sign

MAX_BODY_BYTES = 262_144


class DeliveryError(Exception):
    """A delivery did not succeed. ``permanent`` means that another attempt would not either."""

    def __init__(self, reason: str, *, permanent: bool = False) -> None:
        super().__init__(reason)
        self.permanent = permanent


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """What is sent: a body and the headers that say what it is and who wrote it."""

    url: str
    body: bytes
    headers: Mapping[str, str]


Send = Callable[[WebhookRequest], None]
"""Sends a request, or raises DeliveryError."""


def signed_request(url: str, secret: str, event: Event, *, at: float | None = None) -> WebhookRequest:
    """The request that tells a receiver of an event, signed now (or ``at`` Unix seconds).

    Raises DeliveryError (permanent) for an event that is larger than 256 KiB.
    """
    body = event.to_json().encode("utf-8", "replace")
    return signed_body(url, secret, body, event_id=event.event_id, event_type=event.type, at=at)


def signed_body(
    url: str, secret: str, body: bytes, *, event_id: str, event_type: str, at: float | None = None
) -> WebhookRequest:
    """As ``signed_request``, for the JSON form of an event."""
    if len(body) > MAX_BODY_BYTES:
        raise DeliveryError(f"the event has more than {MAX_BODY_BYTES} bytes", permanent=True)
    timestamp = int(time() if at is None else at)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "apcore-webhook/1",
        EVENT_ID_HEADER: event_id,
        "Apcore-Event-Type": event_type,
        "Idempotency-Key": event_id,
        SIGNATURE_HEADER: sign(secret, body, timestamp),
    }
    return WebhookRequest(url, body, headers)


def send_webhook(request: WebhookRequest, *, allow_private: bool = False, timeout: float = 10.0) -> None:
    """Send one request within ``timeout`` seconds; an answer from 200 to 299 means that it was received.

    Raises DeliveryError for every other answer, redirects among them, for a receiver that is away or slow, and
    (permanently) for an address that must not be reached. Its text names neither the path of the URL nor the answer.
    """
    end = monotonic() + timeout
    try:
        destination = resolved(request.url, allow_private=allow_private, timeout=timeout)
        status = _exchange(destination, request, end)
    except InvalidInputError as error:
        raise DeliveryError(error.message, permanent=True) from error
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        raise DeliveryError(f"no answer ({type(error).__name__})") from error
    if not 200 <= status < 300:
        raise DeliveryError(f"answered with status {status}", permanent=status == 410)


def _exchange(destination: Destination, request: WebhookRequest, end: float) -> int:
    connection = _PinnedConnection(destination, end)
    headers = {**request.headers, "Host": destination.authority, "Connection": "close"}
    try:
        connection.request("POST", destination.target, body=request.body, headers=headers)
        return connection.getresponse().status  # nobody wants the body, however long it is
    finally:
        connection.close()


class _PinnedConnection(http.client.HTTPConnection):
    """Connects to the address that was checked, whatever the name says by now, and asks for the host by name."""

    def __init__(self, destination: Destination, end: float) -> None:
        super().__init__(destination.host, destination.port)
        self.response_class = partial(_BoundedResponse, end)  # type: ignore[assignment]  # called like the class
        self._destination = destination
        self._end = end

    def connect(self) -> None:
        """Open the connection. Raises OSError."""
        self.sock = socket.create_connection((self._destination.address, self._destination.port), _left(self._end))
        if self._destination.scheme == "https":
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self._destination.host)
        self.sock.settimeout(_left(self._end))


class _BoundedResponse(http.client.HTTPResponse):
    """Reads until a point in time, however few bytes come at once."""

    def __init__(self, end: float, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_BoundedReader(self.fp, sock, end))


class _BoundedReader(io.RawIOBase):
    def __init__(self, inner: io.BufferedReader, sock: socket.socket, end: float) -> None:
        self._inner = inner
        self._sock = sock
        self._end = end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(_left(self._end))
        return self._inner.raw.readinto(buffer)

    def close(self) -> None:
        self._inner.close()
        super().close()


def _left(end: float) -> float:
    seconds = end - monotonic()
    if seconds <= 0:
        raise TimeoutError("the time is over")
    return seconds
