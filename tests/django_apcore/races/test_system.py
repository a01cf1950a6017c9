"""Control modules in real processes: asked for in one, approved in another, executed by a worker, in force in all."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.django_apcore.races.conftest import Arena, Racer

ECHO = {"module_id": "test.plain.echo", "text": "a"}
TIMEOUT = "executor.default_timeout"


@pytest.fixture
def broker(tmp_path: Path) -> dict[str, str]:
    return {"APCORE_BROKER_URL": "filesystem://", "APCORE_VAR_DIR": str(tmp_path), "RACE_QUEUE": "celery"}


@pytest.fixture
def worker(arena: Arena, broker: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "tests.django_apcore.races.worker"]
    process = subprocess.Popen(command, env={**arena.environment, **broker}, start_new_session=True)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(holds: Callable[[], Any], what: str, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def answer(racer: Racer) -> Any:
    racer.tell("call", **ECHO)
    return racer.hear()


@pytest.mark.req("R-6.7-10", "R-6.7-16")
def test_a_switch_that_a_worker_makes_is_obeyed_everywhere_within_a_second(
    arena: Arena, broker: dict[str, str], worker: "subprocess.Popen[bytes]"
) -> None:
    here, there = arena.start(**broker), arena.start(**broker)
    assert answer(there) == {"answer": {"result": "a"}}

    for enabled, expected in ((False, {"error": "MODULE_DISABLED"}), (True, {"answer": {"result": "a"}})):
        inputs = {"module_id": "test.plain.echo", "enabled": enabled}
        request = here.do("ask_control", module="toggle_feature", inputs=inputs)
        here.do("approve", request=request, user="adam")
        wait_until(lambda request=request: consumed(here, request), "The worker did not switch")
        time.sleep(1)
        assert answer(here) == expected
        assert answer(there) == expected
        assert answer(arena.start(**broker)) == expected  # after a restart as well
        found = here.do("look", request=request, name="")
        assert (found["consumed"], found["same_digest"], found["audit"]) == (1, True, True)


@pytest.mark.req("R-6.7-07")
def test_a_value_that_was_approved_here_is_in_force_there(arena: Arena, broker: dict[str, str]) -> None:
    here, there = arena.start(**broker), arena.start(**broker)
    before = there.do("configured", key=TIMEOUT)
    request = here.do("ask_control", module="update_config", inputs={"key": TIMEOUT, "value": before + 1})
    here.do("approve_unheard", request=request, user="adam")
    assert there.do("configured", key=TIMEOUT) == before

    assert here.do("execute", request=request) == "consumed"

    assert here.do("configured", key=TIMEOUT) == before + 1
    time.sleep(1)
    assert there.do("configured", key=TIMEOUT) == before + 1
    assert arena.start(**broker).do("configured", key=TIMEOUT) == before + 1


def test_of_two_changes_of_one_value_at_once_one_is_made_and_the_other_is_asked_for_again(
    arena: Arena, first: Racer, second: Racer
) -> None:
    values = {"key": "executor.max_call_depth", "value": 20}, {"key": "executor.max_call_depth", "value": 21}
    requests = [first.do("ask_control", module="update_config", inputs=inputs) for inputs in values]
    for request in requests:
        first.do("approve_unheard", request=request, user="adam")

    moves = zip((first, second), requests, strict=True)
    answers = arena.race(*((racer, "execute", {"request": each}) for racer, each in moves))

    assert sorted(each["answer"] for each in answers) == ["consumed", "superseded"]
    found = [first.do("look", request=request, name="") for request in requests]
    assert sorted(each["successors"] for each in found) == [0, 1]


def test_health_sees_a_worker_come_and_be_killed(arena: Arena, broker: dict[str, str], request: Any) -> None:
    racer = arena.start(**broker)
    wait_until(lambda: not racer.do("workers_alive"), "A worker of another test is alive")
    worker: subprocess.Popen[bytes] = request.getfixturevalue("worker")
    wait_until(lambda: racer.do("workers_alive"), "The worker did not say that it is alive")
    [name] = racer.do("workers_alive")
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    wait_until(lambda: not racer.do("workers_alive"), "A dead worker counts as alive")
    assert name.startswith("celery@")


def consumed(racer: Racer, request: str) -> bool:
    return bool(racer.do("look", request=request, name="")["status"] == "consumed")
