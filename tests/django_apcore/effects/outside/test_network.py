"""Connections of a run: none is opened, none that is open already is used by Python's HTTP client."""

import asyncio
import socket
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import requests
from asgiref.sync import async_to_sync, sync_to_async
from django.core.mail import send_mail
from django.db import connection, connections
from django.test import override_settings

from django_apcore.effects import OutsideEffectError, governed
from tests.django_apcore.effects.runs import execute, preview
from tests.django_apcore.provider import Provider
from tests.matrix.models import Remote, Tag

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

Call = Callable[[Provider], object]


def by_requests(provider: Provider) -> None:
    requests.post(provider.url, data="x", timeout=10)


def by_urllib(provider: Provider) -> None:
    urllib.request.urlopen(provider.url, data=b"x").close()


def by_socket(provider: Provider) -> None:
    with socket.create_connection(("127.0.0.1", provider.server_port)) as raw:
        raw.sendall(b"GET / HTTP/1.0\r\n\r\n")


def by_careful_socket(provider: Provider) -> None:
    with socket.socket() as raw:
        raw.connect_ex(("127.0.0.1", provider.server_port))


def by_asyncio(provider: Provider) -> None:
    async def connect() -> None:
        _reader, writer = await asyncio.open_connection("127.0.0.1", provider.server_port)
        writer.close()
        await writer.wait_closed()

    async_to_sync(connect)()


def by_a_thread_of_the_context(provider: Provider) -> None:
    async_to_sync(asyncio.to_thread)(by_urllib, provider)


def off_the_sensitive_thread(provider: Provider) -> None:
    async_to_sync(sync_to_async(by_urllib, thread_sensitive=False))(provider)


WAYS: list[Call] = [
    by_requests,
    by_urllib,
    by_socket,
    by_careful_socket,
    by_asyncio,
    by_a_thread_of_the_context,
    off_the_sensitive_thread,
]


@pytest.mark.parametrize("commit", [False, True])
@pytest.mark.parametrize("call", WAYS)
def test_no_connection_is_opened(call: Call, commit: bool, provider: Provider) -> None:
    with governed(commit=commit) as run:
        Tag.objects.create(name="made")
        with pytest.raises(OutsideEffectError) as refused:
            call(provider)
    assert provider.visits() == 0
    assert not run.record.complete
    assert run.record.gaps == (f"A connection was refused before it was opened or used: {provider.address}",)
    assert refused.value.details == {"kind": "network", "target": provider.address}
    assert "after the commit" in str(refused.value.suggestion)


@pytest.mark.parametrize("call", WAYS)
def test_outside_of_runs_everything_is_reached(call: Call, provider: Provider) -> None:
    call(provider)
    with governed(commit=False):
        pass
    call(provider)
    assert provider.visits() == 2


def test_a_swallowed_refusal_leaves_the_same_gap_every_time(provider: Provider) -> None:
    def write() -> None:
        for _ in range(2):
            with suppress(Exception):
                by_urllib(provider)

    record = preview(write)
    assert len(record.gaps) == 1
    assert execute(write).digest == record.digest != preview(lambda: None).digest


@pytest.mark.parametrize("keep_alive", ["http.client", "requests"])
def test_a_connection_that_is_open_already_carries_no_request(keep_alive: str, provider: Provider) -> None:
    client = HTTPConnection("127.0.0.1", provider.server_port)
    session = requests.Session()

    def ask() -> None:
        if keep_alive == "requests":
            session.post(provider.url, timeout=10)
        else:
            client.request("POST", "/charges")
            client.getresponse().read()

    ask()
    with governed(commit=False) as run, pytest.raises(OutsideEffectError):
        ask()
    session.close()
    client.close()
    assert len(provider.requests) == 1
    assert not run.record.complete


def test_datagrams_are_not_sent() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(0.2)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender, governed(commit=False) as run:
            with pytest.raises(OutsideEffectError):
                sender.sendto(b"x", receiver.getsockname())
            with pytest.raises(OutsideEffectError):
                sender.sendmsg([b"x"], [], 0, receiver.getsockname())
        with pytest.raises(TimeoutError):
            receiver.recv(1)
    assert len(run.record.gaps) == 1


def test_a_socket_of_this_machine_is_no_way_out_either(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        server.listen()
        with governed(commit=False) as run, pytest.raises(OutsideEffectError):
            client.connect(path)
    assert run.record.gaps[0].endswith(path)


def test_a_foreign_name_is_not_even_looked_up() -> None:
    with governed(commit=False) as run, pytest.raises(OutsideEffectError):
        requests.get("https://payments.example.com/", timeout=10)
    assert run.record.gaps[0].endswith(": payments.example.com:443")


def test_what_everybody_does_is_no_effect() -> None:
    """A mail wants the name of this machine, a loop a pair of sockets, the database perhaps another connection."""

    async def wait() -> None:
        await asyncio.sleep(0)

    def write() -> None:
        send_mail("s", "b", None, ["to@example.com"])
        socket.getfqdn()
        socket.getaddrinfo(socket.gethostname(), None)
        socket.getaddrinfo("localhost", 5432)
        async_to_sync(wait)()
        loop = asyncio.new_event_loop()
        loop.run_until_complete(wait())
        loop.close()
        one, other = socket.socketpair()
        one.sendall(b"x")
        assert other.recv(1) == b"x"
        one.close()
        other.close()

    assert preview(write).complete


def test_the_projects_databases_may_be_connected_to() -> None:
    def write() -> None:
        second = connection.copy()
        second.settings_dict = {**second.settings_dict}
        if second.vendor == "postgresql":
            second.settings_dict["HOST"] = "localhost"  # a name, which is looked up in Python
        with second.cursor() as cursor:
            cursor.execute("SELECT 1")
        second._close()  # closes SQLite in memory, too

    connections["other"].close()
    assert preview(write).complete
    assert preview(lambda: Remote.objects.using("other").count(), aliases=["default"]).complete


def test_a_database_may_have_a_driver_in_python(provider: Provider) -> None:
    class Backend(type(connections["default"])):  # type: ignore[misc]  # whichever backend it is
        def get_new_connection(self, params: Any) -> Any:
            by_urllib(provider)
            return super().get_new_connection(params)

    def write() -> None:
        second = Backend(connection.settings_dict, alias="default")
        second.ensure_connection()
        second._close()

    assert preview(write).complete
    assert provider.requests == ["/charges"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:{port}", "localhost", "localhost:{port}"])
def test_a_host_of_the_settings_is_reached_and_named_in_every_record(host: str, provider: Provider) -> None:
    name = host.format(port=provider.server_port)
    with override_settings(APCORE={"REACHABLE_HOSTS": [name]}):
        record = preview(lambda: by_urllib(provider))
        other = preview(lambda: None)
    assert provider.visits() == 1
    assert record.complete
    assert f"network:{name}" in record.unwatched
    assert other.unwatched == record.unwatched


@pytest.mark.parametrize("host", ["127.0.0.1:1", "example.com:{port}", "127.0.0.2", "[::1]:{port}", "::1"])
def test_no_other_host_is_reached(host: str, provider: Provider, monkeypatch: Any) -> None:
    looked_up: list[Any] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args: looked_up.append(args) or [])
    names = [host.format(port=provider.server_port)]
    with override_settings(APCORE={"REACHABLE_HOSTS": names}), pytest.raises(OutsideEffectError):
        preview(lambda: by_careful_socket(provider))
    monkeypatch.undo()
    assert provider.visits() == 0
