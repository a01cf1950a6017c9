"""A worker is killed, or disturbed, while it executes."""

import time
from pathlib import Path
from uuid import uuid4

import pytest

from tests.django_apcore.races.conftest import Arena, Racer


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, "The module was not reached"
        time.sleep(0.01)


@pytest.mark.req("DR-15")
def test_nothing_half_done_is_left_and_the_next_worker_does_it_once(arena: Arena, first: Racer, race_dir: Path) -> None:
    name = f"slow-{uuid4().hex[:8]}"
    request = first.do("ask", name=name, module_id="test.groups.slow")
    first.do("approve", request=request, user="adam")
    (race_dir / name).write_text("hold")
    victim = arena.start()
    victim.tell("execute", request=request)
    wait_for(race_dir / f"{name}.runs")
    victim.kill()
    (race_dir / name).unlink()

    found = first.do("look", request=request, name=name)
    assert (found["status"], found["groups"]) == ("approved", 0)

    assert first.do("execute", request=request) == "consumed"
    found = first.do("look", request=request, name=name)
    assert (found["groups"], found["consumed"], found["same_digest"], found["audit"]) == (1, 1, True, True)


def test_a_call_that_takes_its_workers_with_it_fails_after_the_third(
    arena: Arena, first: Racer, race_dir: Path
) -> None:
    name = f"slow-{uuid4().hex[:8]}"
    request = first.do("ask", name=name, module_id="test.groups.slow")
    first.do("approve", request=request, user="adam")
    (race_dir / name).write_text("kill")
    victims = [arena.start() for _ in range(3)]
    for victim in victims:
        victim.tell("execute", request=request)
        victim.process.wait(timeout=30)

    assert first.do("execute", request=request) == "approved"
    first.do("long_ago", request=request)
    assert first.do("execute", request=request) == "failed"
    found = first.do("look", request=request, name=name)
    assert (found["failure"], found["groups"], found["audit"]) == ("APPROVAL_WORKER_LOST", 0, True)
    assert (race_dir / f"{name}.runs").read_text() == "run\n" * 3


@pytest.mark.postgresql
def test_a_busy_audit_trail_neither_waits_for_an_execution_nor_makes_it_run_again(
    arena: Arena, first: Racer, second: Racer, race_dir: Path
) -> None:
    name = f"slow-{uuid4().hex[:8]}"
    request = first.do("ask", name=name, module_id="test.groups.slow")
    first.do("approve", request=request, user="adam")
    (race_dir / name).write_text("hold")
    second.tell("execute", request=request)
    wait_for(race_dir / f"{name}.runs")

    assert first.do("append", subject=f"approval:{request}", times=3) == 3  # the very chain of this request
    (race_dir / name).write_text("go")

    assert second.hear() == {"answer": "consumed"}
    assert (race_dir / f"{name}.runs").read_text() == "run\n"
    found = first.do("look", request=request, name=name)
    assert (found["groups"], found["consumed"], found["audit"]) == (1, 1, True)


@pytest.mark.postgresql
def test_nobody_waits_for_an_execution_to_be_told_that_it_runs(
    arena: Arena, first: Racer, second: Racer, race_dir: Path
) -> None:
    name = f"slow-{uuid4().hex[:8]}"
    request = first.do("ask", name=name, module_id="test.groups.slow")
    first.do("approve", request=request, user="adam")
    (race_dir / name).write_text("hold")
    second.tell("execute", request=request)
    wait_for(race_dir / f"{name}.runs")

    first.tell("cancel", request=request)
    assert first.hear() == {"error": "being_executed"}
    assert first.do("expire", request=request) == "approved"
    (race_dir / name).write_text("go")
    assert second.hear() == {"answer": "consumed"}
