"""A collector: takes OTLP over HTTP, and writes each span to a file as a line of JSON. Prints its port first."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


def lines(request: ExportTraceServiceRequest) -> list[str]:
    return [
        json.dumps(
            {
                "service": {each.key: each.value.string_value for each in group.resource.attributes}["service.name"],
                "name": span.name,
                "trace_id": span.trace_id.hex(),
                "span_id": span.span_id.hex(),
                "parent_id": span.parent_span_id.hex(),
                "links": [[link.trace_id.hex(), link.span_id.hex()] for link in span.links],
                "attributes": {each.key: str(each.value) for each in span.attributes},
            }
        )
        for group in request.resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    ]


class Receiver(BaseHTTPRequestHandler):
    file: Path

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        found = lines(ExportTraceServiceRequest.FromString(body)) if self.path == "/v1/traces" else []
        with self.file.open("a") as file:
            file.writelines(f"{line}\n" for line in found)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.end_headers()
        self.wfile.write(ExportTraceServiceResponse().SerializeToString())

    def log_message(self, *arguments: object) -> None:
        """Nothing: standard output is for the port."""


if __name__ == "__main__":
    Receiver.file = Path(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    print(server.server_port, flush=True)
    server.serve_forever()
