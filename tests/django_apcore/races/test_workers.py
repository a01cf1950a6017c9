"""Real worker processes, over real brokers: what was approved is executed, once, whatever dies."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kombu import Connection

from tests.django_apcore.races.conftest import Arena, Racer

Start = Callable[[], "subprocess.Popen[bytes]"]
PATIENCE = 60


BROKERS = ["filesystem", *(pytest.param(name, marks=pytest.mark.broker) for name in ("redis", "rabbitmq"))]


@pytest.fixture(params=BROKERS)
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment that names a broker, with a queue of this test's own."""
    if request.param == "filesystem":
        yield {"APCORE_BROKER_URL": "filesystem://", "APCORE_VAR_DIR": str(tmp_path), "RACE_QUEUE": "celery"}
        return
    url: str = request.getfixturevalue(f"{request.param}_url")
    queue = f"race-{uuid4().hex[:8]}"
    yield {"APCORE_BROKER_URL": url, "RACE_QUEUE": queue}
    with Connection(url) as connection:
        connection.channel().queue_delete(queue)


@pytest.fixture
def racer(arena: Arena, broker: dict[str, str]) -> Racer:
    return arena.start(**broker)


@pytest.fixture
def start_worker(arena: Arena, broker: dict[str, str]) -> Iterator[Start]:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.django_apcore.races.worker"]
        environment = {**arena.environment, **broker, "APCORE_TEST_USAGE_FLUSH_SECONDS": "3600"}
        worker = subprocess.Popen(command, env=environment, start_new_session=True)
        started.append(worker)
        return worker

    yield start
    for worker in started:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()


@pytest.fixture
def name() -> str:
    return f"work-{uuid4().hex[:8]}"


def wait_until(holds: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def look(racer: Racer, request: str, name: str) -> Any:
    return racer.do("look", request=request, name=name)


def test_a_worker_that_is_told_to_end_writes_the_calls_of_its_pool(
    racer: Racer, start_worker: Start, name: str
) -> None:
    worker = start_worker()  # it flushes by itself in an hour
    request = racer.do("ask", name=name)
    racer.do("approve", request=request, user="adam")
    wait_until(lambda: look(racer, request, name)["status"] == "consumed", "The worker did not execute")
    before = racer.do("usage", module_id="test.groups.create")
    worker.send_signal(signal.SIGTERM)
    worker.wait(timeout=PATIENCE)
    # An execution that the database did not let through at first is one more call.
    assert racer.do("usage", module_id="test.groups.create")[0] > before[0]


def test_an_approved_call_is_executed_by_a_worker(racer: Racer, start_worker: Start, name: str) -> None:
    start_worker()
    request = racer.do("ask", name=name)
    racer.do("approve", request=request, user="adam")
    wait_until(lambda: look(racer, request, name)["status"] == "consumed", "The worker did not execute")
    found = look(racer, request, name)
    assert (found["groups"], found["consumed"], found["same_digest"], found["audit"]) == (1, 1, True, True)

    wait_until(lambda: racer.do("results", request=request), "The result did not arrive")
    for result in racer.do("results", request=request):
        assert set(result) == {"approval_id", "status", "effect_digest", "committed_digest"}


def test_what_was_approved_while_no_worker_ran_is_executed_when_one_starts(
    racer: Racer, start_worker: Start, name: str
) -> None:
    request = racer.do("ask", name=name)
    racer.do("approve_unheard", request=request, user="adam")
    start_worker()
    wait_until(lambda: look(racer, request, name)["status"] == "consumed", "The worker did not recover the request")
    assert look(racer, request, name)["groups"] == 1


@pytest.mark.req("DR-15")
def test_a_worker_that_is_killed_leaves_nothing_and_the_next_one_executes_once(
    racer: Racer, start_worker: Start, race_dir: Path, name: str
) -> None:
    victim = start_worker()
    request = racer.do("ask", name=name, module_id="test.groups.slow")
    (race_dir / name).write_text("hold")
    racer.do("approve", request=request, user="adam")
    wait_until((race_dir / f"{name}.runs").exists, "The worker did not begin")
    os.killpg(victim.pid, signal.SIGKILL)
    victim.wait()
    (race_dir / name).unlink()
    found = look(racer, request, name)
    assert (found["status"], found["groups"]) == ("approved", 0)

    start_worker()
    wait_until(lambda: look(racer, request, name)["status"] == "consumed", "The next worker did not execute")
    found = look(racer, request, name)
    assert (found["groups"], found["consumed"], found["same_digest"], found["audit"]) == (1, 1, True, True)
