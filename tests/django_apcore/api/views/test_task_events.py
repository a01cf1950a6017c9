"""Following a task over a stream of events."""

import asyncio
import dataclasses
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from django.contrib.auth.models import Group
from pytest_django.live_server_helper import LiveServer
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from django_apcore import runtime, services
from django_apcore.api.views import task_events
from django_apcore.models import AsyncTask
from tests.django_apcore.api.conftest import account, client_of, url
from tests.django_apcore.api.views.test_streams import Asgi

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_events, "POLL_SECONDS", 0.02)


@pytest.fixture
def task(agent: APIClient) -> AsyncTask:
    Group.objects.create(name="squad")
    body = agent.post(url("modules/groups.find/submit/"), {"inputs": {"name": "squad"}}, format="json").json()
    return AsyncTask.objects.get(pk=body["task_id"])


def follow(client: APIClient, task: AsyncTask, **headers: str) -> Any:
    return client.get(url(f"tasks/{task.pk}/events/"), headers={"Accept": "text/event-stream"} | headers)


def parsed(text: str) -> list[dict[str, Any]]:
    """The events of a stream, without comments."""
    told = [block for block in text.split("\n\n") if block and block[0] != ":"]
    blocks = [dict(line.split(": ", 1) for line in block.split("\n")) for block in told]
    return [{**block, "data": json.loads(block["data"])} for block in blocks if "data" in block]


def read(response: Any) -> list[dict[str, Any]]:
    body = b"".join(response.streaming_content).decode()
    response.close()
    return parsed(body)


def test_a_task_that_has_ended_is_told_once(agent: APIClient, task: AsyncTask) -> None:
    services.run_task(task.pk)
    response = follow(agent, task)
    assert (response.status_code, response["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
    [event] = read(response)
    assert event["event"] == "status"
    assert (event["data"]["status"], event["data"]["progress"]) == ("completed", 100)
    assert event["data"]["id"] == str(task.pk)
    assert "result" not in event["data"]


def test_status_and_progress_come_as_they_happen(agent: APIClient, task: AsyncTask) -> None:
    def go(**columns: Any) -> None:
        AsyncTask.objects.filter(pk=task.pk).update(**columns)

    seen: list[tuple[str, str, int]] = []
    steps: Iterator[Callable[[], Any]] = iter(
        [
            lambda: go(status="running"),
            lambda: go(progress_done=1, progress_total=4),
            lambda: go(progress_done=3),
            lambda: go(status="completed", progress_done=4),
        ]
    )
    response = follow(agent, task)
    for part in response.streaming_content:
        for event in parsed(part.decode()):
            seen.append((event["event"], event["data"]["status"], event["data"]["progress"]))
            next(steps, lambda: None)()
    response.close()
    assert seen == [
        ("status", "pending", 0),
        ("status", "running", 0),
        ("progress", "running", 25),
        ("progress", "running", 75),
        ("status", "completed", 100),
    ]


def test_who_comes_back_is_not_told_again(agent: APIClient, task: AsyncTask) -> None:
    services.run_task(task.pk)
    [event] = read(follow(agent, task))
    assert read(follow(agent, task, **{"Last-Event-ID": event["id"]})) == []
    assert read(follow(agent, task, **{"Last-Event-ID": "something old"})) == [event]


def test_silence_is_filled_with_comments(agent: APIClient, task: AsyncTask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_events, "HEARTBEAT_SECONDS", 0.05)
    response = follow(agent, task)
    parts = iter(response.streaming_content)
    assert [next(parts)[:6] for _ in range(4)] == [b"retry:", b"id: " + task_id_of(task), b": stil", b": stil"]
    response.close()


def task_id_of(task: AsyncTask) -> bytes:
    return task_events._event_id(task)[:2].encode()


def test_a_stream_ends_after_a_while(agent: APIClient, task: AsyncTask, configure: Callable[..., None]) -> None:
    configure(API_EVENT_STREAM_SECONDS=0.1)
    started = time.monotonic()
    [event] = read(follow(agent, task))
    assert event["data"]["status"] == "pending"
    assert time.monotonic() - started < 5


def test_only_so_many_at_a_time_and_a_place_is_given_back(
    agent: APIClient, task: AsyncTask, api_runtime: runtime.Runtime
) -> None:
    runtime.replace(dataclasses.replace(api_runtime, event_streams=threading.BoundedSemaphore(1)))
    first = follow(agent, task)
    second = follow(agent, task)
    assert (second.status_code, second.json()["code"]) == (503, "REQUEST_TOO_MANY_STREAMS")
    assert second["Retry-After"] == "2"
    first.close()
    first.close()
    third = follow(agent, task)
    assert third.status_code == 200
    third.close()


def test_who_may_not_read_the_task_may_not_follow_it(agent: APIClient, stranger: APIClient, task: AsyncTask) -> None:
    assert follow(stranger, task).status_code == 404
    assert follow(APIClient(), task).status_code == 401
    manager = client_of(account("manager", "change_asynctask"))
    response = follow(manager, task)
    assert response.status_code == 200
    response.close()


def test_a_task_that_is_deleted_ends_the_stream(agent: APIClient, task: AsyncTask) -> None:
    response = follow(agent, task)
    parts = iter(response.streaming_content)
    next(parts), next(parts)
    task.delete()
    assert list(parts) == []
    response.close()


def test_over_real_http(live_server: LiveServer, agent: APIClient, task: AsyncTask) -> None:
    token = Token.objects.get(user__username="agent").key
    headers = {"Authorization": f"Token {token}", "Accept": "text/event-stream"}
    target = live_server.url + url(f"tasks/{task.pk}/events/")
    text = ""
    with requests.get(target, headers=headers, stream=True, timeout=30) as response:
        assert response.status_code == 200
        for line in response.iter_lines(chunk_size=1, decode_unicode=True):
            text += line + "\n"
            if '"pending"' in line:
                services.run_task(task.pk)
    statuses = [event["data"]["status"] for event in parsed(text)]
    assert (statuses[0], statuses[-1]) == ("pending", "completed")


def test_under_asgi_and_when_the_client_goes_away(agent: APIClient, task: AsyncTask, api_runtime: Any) -> None:
    token = Token.objects.get(user__username="agent").key
    limited = dataclasses.replace(api_runtime, event_streams=threading.BoundedSemaphore(1))
    runtime.replace(limited)

    async def leave() -> bytes:
        client = Asgi(url(f"tasks/{task.pk}/events/"), token, method="GET", accept="text/event-stream")
        assert (await client.start())["status"] == 200
        received = await client.part() + await client.part()
        await client.leave()
        return received

    assert b"event: status" in asyncio.run(leave())
    services.run_task(task.pk)

    async def stay() -> bytes:
        client = Asgi(url(f"tasks/{task.pk}/events/"), token, method="GET", accept="text/event-stream")
        assert (await client.start())["status"] == 200  # the place was given back
        return await client.rest()

    assert parsed(asyncio.run(stay()).decode())[0]["data"]["status"] == "completed"


def test_under_asgi_who_leaves_before_the_answer_is_there_keeps_no_place(
    agent: APIClient, task: AsyncTask, api_runtime: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = Token.objects.get(user__username="agent").key
    places = threading.BoundedSemaphore(1)
    runtime.replace(dataclasses.replace(api_runtime, event_streams=places))
    is_asked, may_answer = threading.Event(), threading.Event()
    look_up = task_events.TaskEventsView.task

    def slow(view: Any, task_id: Any) -> Any:
        is_asked.set()
        may_answer.wait(20)
        return look_up(view, task_id)

    monkeypatch.setattr(task_events.TaskEventsView, "task", slow)

    async def leave() -> None:
        client = Asgi(url(f"tasks/{task.pk}/events/"), token, method="GET", accept="text/event-stream")
        await client.ask()
        await asyncio.to_thread(is_asked.wait, 20)
        asyncio.get_running_loop().call_later(0.3, may_answer.set)
        await client.leave()

    asyncio.run(leave())
    assert places.acquire(timeout=5)
