"""Calls that answer in chunks, as Server-Sent Events and as lines, under WSGI and ASGI."""

import asyncio
import gc
import json
import threading
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
import requests
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import Group
from django.core.asgi import get_asgi_application
from pytest_django.live_server_helper import LiveServer
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from apcore.context import Context
from apcore.execution import Rewrite
from django_apcore.models import ApprovalPolicy, ApprovalRequest
from django_apcore.runtime import Runtime
from tests.django_apcore.api.conftest import account, client_of, url

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

NDJSON = "application/x-ndjson"


class Squads:
    """Adds groups, one per chunk."""

    description = "Add groups one by one"
    effect = "transactional"
    annotations: ClassVar[dict[str, Any]] = {"streaming": True}
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"names": {"type": "array", "items": {"type": "string"}}, "how": {"type": "string"}},
        "required": ["names"],
    }
    output_schema: ClassVar[dict[str, Any]] = {"type": "object", "maxProperties": 3}

    def __init__(self) -> None:
        self.tokens: list[Any] = []
        self.next_chunk = threading.Event()
        self.next_chunk.set()
        self.is_closed = threading.Event()

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {name: Group.objects.create(name=name).name for name in inputs["names"]}

    def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
        self.tokens.append(context.cancel_token)
        try:
            if inputs.get("how") == "fail at once":
                raise ValueError("the password is hunter2")
            for name in inputs["names"]:
                yield {name: Group.objects.create(name=name).name}
                self.next_chunk.wait(20)
            if inputs.get("how") == "fail":
                raise ValueError("the password is hunter2")
            if inputs.get("how") == "odd":
                yield {"odd": object()}
        finally:
            self.is_closed.set()


class GatedSquads(Squads):
    annotations: ClassVar[dict[str, Any]] = {"streaming": True, "requires_approval": True}


@pytest.fixture
def squads(api_runtime: Runtime) -> Squads:
    module = Squads()
    api_runtime.registry.register("groups.stream", module)
    api_runtime.registry.register("groups.stream_gated", GatedSquads())
    return module


def stream(client: APIClient, inputs: object, module_id: str = "groups.stream", **headers: str) -> Any:
    headers = {"Accept": NDJSON} | headers
    return client.post(url(f"modules/{module_id}/stream/"), {"inputs": inputs}, format="json", headers=headers)


def lines(response: Any) -> list[tuple[str, Any]]:
    body = b"".join(response.streaming_content)
    response.close()
    return [(each["event"], each["data"]) for each in map(json.loads, body.splitlines())]


def squad_names() -> set[str]:
    return set(Group.objects.values_list("name", flat=True))


def test_chunks_and_then_the_whole_result_as_lines(agent: APIClient, squads: Squads) -> None:
    response = stream(agent, {"names": ["a", "b"]}, traceparent=f"00-{'ab' * 16}-{'cd' * 8}-01")
    assert response.status_code == 200
    assert response["Content-Type"] == "application/x-ndjson; charset=utf-8"
    assert response["traceparent"].startswith(f"00-{'ab' * 16}-")
    assert "no-store" in response["Cache-Control"]
    assert lines(response) == [
        ("chunk", {"a": "a"}),
        ("chunk", {"b": "b"}),
        ("result", {"result": {"a": "a", "b": "b"}, "trace_id": "ab" * 16}),
    ]
    assert squad_names() == {"a", "b"}


@pytest.mark.parametrize("accept", ["text/event-stream", "*/*"])
def test_as_server_sent_events(agent: APIClient, squads: Squads, accept: str) -> None:
    response = stream(agent, {"names": ["a\n\u2028"]}, Accept=accept)
    assert response["Content-Type"] == "text/event-stream; charset=utf-8"
    events = b"".join(response.streaming_content).decode().split("\n\n")
    response.close()
    name, data = events[0].split("\n")
    assert (name, json.loads(data.removeprefix("data: "))) == ("event: chunk", {"a\n\u2028": "a\n\u2028"})
    assert [event.split("\n")[0] for event in events] == ["event: chunk", "event: result", ""]


def test_a_module_without_stream_gives_one_chunk(agent: APIClient, squads: Squads) -> None:
    Group.objects.create(name="squad")
    events = lines(stream(agent, {"name": "squad"}, "groups.find"))
    assert [name for name, _ in events] == ["chunk", "result"]
    assert events[0][1] == events[1][1]["result"] == {"names": ["squad"]}


@pytest.mark.parametrize(
    ("module_id", "inputs", "status", "code"),
    [
        ("groups.forbidden", {}, 403, "ACL_DENIED"),
        ("groups.unknown", {}, 404, "MODULE_NOT_FOUND"),
        ("groups.stream", {"names": "a"}, 400, "SCHEMA_VALIDATION_ERROR"),
        ("groups.stream", {"names": [], "how": "fail at once"}, 500, "MODULE_EXECUTE_ERROR"),
        ("groups.fail", {"how": "quota"}, 429, "GROUPS_QUOTA_EXCEEDED"),
        ("groups.count", {"what": "thing"}, 500, "MODULE_EXECUTE_ERROR"),
    ],
)
def test_errors_before_the_first_chunk_are_answered_as_by_call(
    agent: APIClient, squads: Squads, module_id: str, inputs: Any, status: int, code: str
) -> None:
    response = stream(agent, inputs, module_id)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response["Content-Type"] == "application/json"
    assert b"hunter2" not in response.content


def test_an_error_after_chunks_is_an_event_and_nothing_is_committed(agent: APIClient, squads: Squads) -> None:
    events = lines(stream(agent, {"names": ["a"], "how": "fail"}))
    assert [name for name, _ in events] == ["chunk", "error"]
    error = events[1][1]
    assert (error["code"], len(error["trace_id"])) == ("MODULE_EXECUTE_ERROR", 32)
    assert "hunter2" not in str(events)
    assert squad_names() == set()


def test_a_chunk_that_json_cannot_hold_ends_the_stream_and_the_transaction(agent: APIClient, squads: Squads) -> None:
    events = lines(stream(agent, {"names": ["a"], "how": "odd"}))
    assert [name for name, _ in events] == ["chunk", "error"]
    assert "cannot be written as JSON" in events[1][1]["message"]
    assert squad_names() == set()


def test_a_merged_result_that_is_refused_is_an_event_too(agent: APIClient, squads: Squads) -> None:
    events = lines(stream(agent, {"names": ["a", "b", "c", "d"]}))
    assert (events[-1][0], events[-1][1]["code"]) == ("error", "SCHEMA_VALIDATION_ERROR")
    assert squad_names() == set()


def test_a_client_that_stops_reading_rolls_it_back(agent: APIClient, squads: Squads) -> None:
    response = stream(agent, {"names": ["a", "b"]})
    assert json.loads(next(iter(response.streaming_content)))["event"] == "chunk"
    response.close()
    assert squads.is_closed.is_set()
    assert squads.tokens[0].reason == "the consumer closed the stream"
    assert squad_names() == set()


def test_rewrites_are_told_with_the_result(agent: APIClient, squads: Squads, api_runtime: Runtime) -> None:
    api_runtime.executor.add_rewriter(lambda module_id, inputs, context: Rewrite.to({"names": ["b"]}, "a is taken"))
    events = lines(stream(agent, {"names": ["a"]}))
    assert events[-1][1]["result"] == {"b": "b"}
    assert events[-1][1]["rewrites"][0]["reason"] == "a is taken"


def test_an_approval_is_asked_for_before_the_first_chunk_and_gives_one(
    agent: APIClient, squads: Squads, by_the_caller: ApprovalPolicy
) -> None:
    pending = stream(agent, {"names": ["a", "b"]}, "groups.stream_gated")
    assert (pending.status_code, pending["Content-Type"]) == (202, "application/json")
    assert pending.json()["code"] == "APPROVAL_PENDING"
    assert pending.json()["preview"]["counts"] == {"auth.Group:insert": 2}
    boss = client_of(account("boss", "decide_approvalrequest"))
    token, digest = pending.json()["approval_id"], pending.json()["preview"]["digest"]
    boss.post(url(f"approvals/{token}/approve/"), {"seen_digest": digest, "confirmed": True}, format="json")
    resumed = stream(agent, {"names": ["a", "b"]}, "groups.stream_gated", **{"Apcore-Approval-Token": token})
    events = lines(resumed)
    assert [name for name, _ in events] == ["chunk", "result"]
    assert events[0][1] == {"a": "a", "b": "b"}
    assert ApprovalRequest.objects.get().status == "consumed"
    again = stream(agent, {"names": ["a", "b"]}, "groups.stream_gated", **{"Apcore-Approval-Token": token})
    assert (again.status_code, again.json()["code"]) == (409, "APPROVAL_CONFLICT")


def test_what_a_stream_cannot_do_is_refused(agent: APIClient, squads: Squads) -> None:
    kept = stream(agent, {"names": []}, **{"Idempotency-Key": "k"})
    assert (kept.status_code, kept.json()["code"]) == (400, "GENERAL_INVALID_INPUT")
    other = stream(agent, {"names": []}, Accept="application/json")
    assert (other.status_code, other.json()["code"]) == (406, "REQUEST_NOT_ACCEPTABLE")


def test_nobody_unknown_streams(squads: Squads) -> None:
    response = stream(APIClient(), {"names": ["a"]})
    assert (response.status_code, response.json()["code"]) == (401, "REQUEST_UNAUTHENTICATED")
    assert squads.tokens == []


def test_over_real_http_a_chunk_arrives_before_the_next_is_made(live_server: LiveServer, squads: Squads) -> None:
    squads.next_chunk.clear()
    with post(live_server, {"names": ["a", "b"]}) as response:
        received = response.iter_lines(chunk_size=1)
        assert json.loads(next(received)) == {"event": "chunk", "data": {"a": "a"}}
        squads.next_chunk.set()
        assert [json.loads(line)["event"] for line in received] == ["chunk", "result"]
    assert squad_names() == {"a", "b"}


def test_over_real_http_a_client_that_goes_away_rolls_it_back(live_server: LiveServer, squads: Squads) -> None:
    with post(live_server, {"names": [f"group {number} {'x' * 100}" for number in range(5_000)]}) as response:
        next(response.iter_lines(chunk_size=1))
    assert squads.is_closed.wait(20)
    assert settles_at_nothing()


def post(server: LiveServer, inputs: Any) -> requests.Response:
    token = Token.objects.create(user=account("service")).key
    headers = {"Authorization": f"Token {token}", "Accept": NDJSON}
    target = server.url + url("modules/groups.stream/stream/")
    return requests.post(target, json={"inputs": inputs}, headers=headers, stream=True, timeout=30)


def settles_at_nothing() -> bool:
    """Whether no group is there in the end; the module knows a moment earlier than the database that it is over."""
    end = time.monotonic() + 10
    while squad_names() and time.monotonic() < end:
        time.sleep(0.05)
    return squad_names() == set()


# Under ASGI


class Asgi:
    """A client of the ASGI application that can go away."""

    def __init__(self, path: str, token: str, body: bytes = b"", method: str = "POST", accept: str = NDJSON) -> None:
        headers = {"authorization": f"Token {token}", "accept": accept, "content-type": "application/json"}
        headers["host"] = "testserver"
        headers["content-length"] = str(len(body))
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        self._body = body
        self._app = ApplicationCommunicator(get_asgi_application(), scope)

    async def ask(self) -> None:
        await self._app.send_input({"type": "http.request", "body": self._body})

    async def start(self) -> dict[str, Any]:
        await self.ask()
        return dict(await self._app.receive_output(20))

    async def part(self) -> bytes:
        return bytes((await self._app.receive_output(20)).get("body", b""))

    async def rest(self) -> bytes:
        received = b""
        while True:
            message = await self._app.receive_output(20)
            received += message.get("body", b"")
            if not message.get("more_body"):
                await self._app.wait(20)
                return received

    async def leave(self) -> None:
        await self._app.send_input({"type": "http.disconnect"})
        await self._app.wait(20)


def asgi(names: list[str]) -> Asgi:
    token = Token.objects.create(user=account("service")).key
    return Asgi(url("modules/groups.stream/stream/"), token, json.dumps({"inputs": {"names": names}}).encode())


def test_under_asgi_chunks_come_one_by_one(squads: Squads) -> None:
    client = asgi(["a", "b"])

    async def read() -> list[Any]:
        squads.next_chunk.clear()
        assert (await client.start())["status"] == 200
        first = await client.part()
        squads.next_chunk.set()
        return [json.loads(line) for line in (first + await client.rest()).splitlines()]

    events = asyncio.run(read())
    assert [event["event"] for event in events] == ["chunk", "chunk", "result"]
    assert squad_names() == {"a", "b"}


@pytest.mark.parametrize("is_busy", [True, False])
def test_under_asgi_a_client_that_goes_away_rolls_it_back(squads: Squads, is_busy: bool) -> None:
    client = asgi([f"group {number}" for number in range(1_000)])

    async def leave() -> None:
        await client.start()
        if is_busy:
            squads.next_chunk.clear()
            asyncio.get_running_loop().call_later(0.3, squads.next_chunk.set)
        await client.part()
        await client.leave()

    asyncio.run(leave())
    assert squads.is_closed.wait(20)
    assert squads.tokens[0].is_cancelled
    assert squad_names() == set()


class SlowSquads(Squads):
    """Writes long before its first chunk."""

    def __init__(self) -> None:
        super().__init__()
        self.has_written = threading.Event()

    def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
        try:
            Group.objects.create(name="half done")
            self.has_written.set()
            self.next_chunk.wait(20)
            yield {"half": "done"}
        finally:
            self.is_closed.set()


def test_under_asgi_a_client_that_leaves_before_the_first_chunk_leaves_no_transaction_behind(
    api_runtime: Runtime,
) -> None:
    module = SlowSquads()
    api_runtime.registry.register("groups.stream", module)
    client = asgi([])

    async def leave() -> None:
        module.next_chunk.clear()
        await client.ask()
        assert await asyncio.to_thread(module.has_written.wait, 20)
        asyncio.get_running_loop().call_later(0.3, module.next_chunk.set)
        await client.leave()

    gc.disable()  # what is closed only when the collector comes by is open for as long as it likes
    try:
        asyncio.run(leave())
        assert module.is_closed.wait(5)
    finally:
        gc.enable()
    assert squad_names() == set()
    Group.objects.create(name="nobody holds a lock")
