"""What one process changes, it obeys at once, and every other one within a second."""

import time
from collections.abc import Callable, Iterator

import pytest

from tests.django_apcore.races.conftest import Arena, Racer

ECHO = {"module_id": "test.plain.echo", "text": "a"}
GOOD = {"answer": {"result": "a"}}

Start = Callable[..., list[Racer]]


@pytest.fixture
def start(arena: Arena) -> Iterator[Start]:
    """Starts processes that are ended with the test."""
    started: list[Racer] = []

    def start_some(number: int, **environment: str) -> list[Racer]:
        started.extend(arena.start(**environment) for _ in range(number))
        return started[-number:]

    yield start_some
    for racer in started:
        assert racer.process.stdin is not None
        racer.process.stdin.close()
        racer.process.wait(timeout=30)


def heard_by(racers: list[Racer]) -> list[object]:
    """What a call is answered in each of the processes, all asked at the same time."""
    for racer in racers:
        racer.tell("call", **ECHO)
    return [racer.hear() for racer in racers]


@pytest.mark.parametrize("others", [1, 3])
def test_a_module_that_is_switched_off_and_on_elsewhere(start: Start, others: int) -> None:
    here, *there = start(1 + others)
    assert heard_by(there) == [GOOD] * others
    for enabled, answer in ((False, {"error": "MODULE_DISABLED"}), (True, GOOD)):
        here.do("toggle", module_id="test.plain.echo", enabled=enabled)
        changed = time.monotonic()
        assert heard_by([here]) == [answer]
        time.sleep(max(0, changed + 1 - time.monotonic()))
        assert heard_by(there) == [answer] * others


@pytest.mark.parametrize("others", [1, 3])
def test_a_rule_that_is_changed_elsewhere(start: Start, others: int) -> None:
    here, *there = start(1 + others, RACE_ACL="database")
    for effect, answer in (("allow", GOOD), ("deny", {"error": "ACL_DENIED"})):
        here.do("save_rule", effect=effect)
        changed = time.monotonic()
        assert heard_by([here]) == [answer]
        time.sleep(max(0, changed + 1 - time.monotonic()))
        assert heard_by(there) == [answer] * others
