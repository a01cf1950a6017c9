"""Children of the demo: started, revived when they die, ended with everything they started."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from project.demo.processes import RESTARTS, Child, StartError, Supervisor, free_port
from project.demo.workspace import Workspace, try_lock

SLEEP = "import time; print('up', flush=True); time.sleep(600)"
WITH_GRANDCHILD = (
    "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], stdout=2);"
    "print(p.pid, flush=True); p.wait()"
)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def supervisor(said: list[str]) -> Iterator[Supervisor]:
    supervisor = Supervisor(say=said.append)
    yield supervisor
    supervisor.stop()


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Callable[[str], Child]]:
    lock = try_lock(tmp_path)
    assert lock is not None
    workspace = Workspace(tmp_path, lock, ())
    yield lambda code: Child("helper", [sys.executable, "-c", code], workspace)
    lock.close()


def is_up(child: Child) -> Callable[[], bool]:
    return lambda: child.log.exists() and bool(child.log.read_text())


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_child_that_ends_at_once_is_an_error_that_names_its_log(supervisor: Supervisor, child: Callable) -> None:
    with pytest.raises(StartError, match=r"(?s)helper ended while starting.*helper\.log:\nno database"):
        supervisor.start(child("raise SystemExit('no database')"), lambda: False)


def test_a_child_that_is_never_ready_is_an_error(supervisor: Supervisor, child: Callable) -> None:
    with pytest.raises(StartError, match="was not ready after 0 s"):
        supervisor.start(child(SLEEP), lambda: False, seconds=0.2)


def test_a_killed_child_is_started_again_and_the_reader_is_told(
    supervisor: Supervisor, child: Callable, said: list[str]
) -> None:
    helper = child(SLEEP)
    supervisor.start(helper, is_up(helper))
    supervisor.watch()
    first = helper.process.pid
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: helper.process.pid != first and helper.running)
    assert said == ["The helper has died; starting it again."]


def test_a_child_that_keeps_dying_is_given_up(supervisor: Supervisor, child: Callable, said: list[str]) -> None:
    helper = child("print('up')")
    supervisor.children.append(helper)
    helper.start()
    supervisor.watch()
    wait_until(lambda: len(said) == RESTARTS + 1)
    assert "stays down" in said[-1]


def test_ending_takes_the_whole_family(supervisor: Supervisor, child: Callable) -> None:
    helper = child(WITH_GRANDCHILD)
    supervisor.start(helper, is_up(helper))
    grandchild = int(helper.log.read_text().split()[0])
    assert is_alive(grandchild)
    supervisor.stop()
    wait_until(lambda: not is_alive(grandchild))
    assert not helper.running


def test_a_busy_port_is_passed_over() -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        taken = busy.getsockname()[1]
        assert free_port(taken) != taken
    assert free_port(taken) == taken
