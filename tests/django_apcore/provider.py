"""A server that modules must not reach while they are measured: it counts who comes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Provider(ThreadingHTTPServer):
    """Takes money by HTTP, and keeps connections open; `requests` are the paths that were asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Till)
        self.requests: list[str] = []
        self.connected = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}/charges"

    def visits(self) -> int:
        """How many connections there were so far. They are counted one after the other, and ours is the last."""
        client = HTTPConnection("127.0.0.1", self.server_port)
        client.request("GET", "/count")
        client.getresponse().read()
        client.close()
        self.requests.remove("/count")
        self.connected -= 1
        return self.connected

    def get_request(self) -> object:
        self.connected += 1
        return super().get_request()


class _Till(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Provider

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def do_GET(self) -> None:
        """For those who close nothing and read no answer."""
        self.server.requests.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Nothing: the tests count."""


@contextmanager
def open_provider() -> Iterator[Provider]:
    with Provider() as provider:
        thread = threading.Thread(target=provider.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield provider
        finally:
            provider.shutdown()
            thread.join()
