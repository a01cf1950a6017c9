"""The other end of a webhook: a program of somebody else that is told of events, and checks who tells it."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from apcore.events.webhooks import is_authentic


@dataclass(frozen=True, slots=True)
class Delivery:
    headers: Mapping[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        return dict(json.loads(self.body))

    def is_signed_with(self, secret: str) -> bool:
        return is_authentic(secret, self.body, self.headers)

    def is_signed_after_a_change(self, secret: str) -> bool:
        """Whether the signature still fits when somebody on the way has added a blank."""
        return is_authentic(secret, self.body + b" ", self.headers)


@dataclass(slots=True)
class Receiver:
    """What was delivered to `url` so far."""

    url: str = ""
    deliveries: list[Delivery] = field(default_factory=list)

    def wait_for(self, event_type: str, seconds: float) -> list[Delivery]:
        """All deliveries, once an event of this type is among them. Raises TimeoutError."""
        deadline = time.monotonic() + seconds
        while event_type not in {delivery.event["type"] for delivery in self.deliveries}:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{event_type} was not delivered within {seconds:.0f} s")
            time.sleep(0.1)
        return list(self.deliveries)


@contextmanager
def listening_receiver() -> Iterator[Receiver]:
    """A receiver on a free port of this machine, until the end of the block."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            receiver.deliveries.append(Delivery(dict(self.headers), body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *values: object) -> None:  # noqa: A002 - the name is the base class's
            """The story is what the terminal shows."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}/events"
        thread = threading.Thread(target=server.serve_forever, name="demo-receiver", daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
