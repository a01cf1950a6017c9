"""What the audit hook costs: where no run is active, and inside of one. In a process of its own, since a hook stays."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib import import_module
from os import devnull

import django

from benchmarks.timing import Measurement, Settings, seconds_of_each


def _open() -> None:
    with open(devnull, "rb", buffering=0):  # noqa: PTH123 - the event is that of `open()`
        pass


CASES: dict[str, Callable[[], object]] = {
    "id()": lambda: id(None),
    "sys._getframe()": sys._getframe,  # noqa: SLF001 - raises an event, which is what is measured
    "open() and close()": _open,
}


def cases(settings: Settings) -> Iterator[Measurement]:
    options = [str(settings.rounds), str(settings.round_seconds)]
    found = subprocess.check_output([sys.executable, "-m", "benchmarks.outside", *options], text=True)
    yield from (Measurement(**each) for each in json.loads(found))


def _measured(settings: Settings) -> Iterator[Measurement]:
    yield from (Measurement(name, seconds) for name, seconds in seconds_of_each(CASES, settings).items())
    django.setup()  # which installs the hook
    yield from _beside("the hook is there", settings)
    active = import_module("django_apcore.effects.active")  # not before Django is ready
    active.current_run.set(active.Run())
    yield from _beside("in a run", settings)


def _beside(where: str, settings: Settings) -> Iterator[Measurement]:
    for name, seconds in seconds_of_each(CASES, settings).items():
        yield Measurement(f"{name}, {where}", seconds, compared_with=name)


if __name__ == "__main__":
    given = Settings(int(sys.argv[1]), float(sys.argv[2]))
    print(json.dumps([asdict(each) for each in _measured(given)]))
