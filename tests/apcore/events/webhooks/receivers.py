"""A real HTTP server that plays a receiver of webhooks."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Delivery:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """``answer(handler)`` writes the answer to one request; what came is in ``deliveries``."""

    answer: Callable[[BaseHTTPRequestHandler], None]
    url: str = ""
    deliveries: list[Delivery] = field(default_factory=list)


def status(*codes: int, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer with these codes, one after the other, the last one for ever."""
    left = list(codes)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(left.pop(0) if len(left) > 1 else left[0])
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()

    return answer


@contextmanager
def receiver(answer: Callable[[BaseHTTPRequestHandler], None] | None = None) -> Iterator[Receiver]:
    receiver = Receiver(answer or status(204))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.deliveries.append(Delivery(self.path, dict(self.headers), body))
            try:
                receiver.answer(self)
            except OSError:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}/hooks/orders?x=1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
