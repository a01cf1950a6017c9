"""How a duration is measured: the least of several medians, so that what else the machine does counts little."""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter, thread_time

_SLICES = 20


@dataclass(frozen=True, slots=True)
class Settings:
    """So many rounds, each of which lasts about `round_seconds` and gives a median."""

    rounds: int = 7
    round_seconds: float = 0.2


@dataclass(frozen=True, slots=True)
class Measurement:
    """One case.

    `seconds` is the time of one call, `compared_with` names the case of which it is a multiple, `megabytes` is
    the memory that it takes where that was measured.
    """

    name: str
    seconds: float
    compared_with: str = ""
    target_seconds: float | None = None
    megabytes: float | None = None

    @property
    def missed(self) -> bool:
        return self.target_seconds is not None and self.seconds > self.target_seconds


def seconds_per_call(function: Callable[[], object], settings: Settings) -> float:
    """The least of the medians of the rounds; the garbage collector runs between the rounds, not in them.

    A round is made of short slices: a process that shares its processor is seldom interrupted in most of them.
    """
    number = _calls_that_last(function, settings.round_seconds)
    slices = min(_SLICES, number)
    return min(_round(function, slices, number // slices) for _ in range(settings.rounds))


def seconds_of_each(
    functions: Mapping[str, Callable[[], object]], settings: Settings, clock: Callable[[], float] = thread_time
) -> dict[str, float]:
    """The same for several functions that take turns, slice by slice: what slows the machine slows all of them alike.

    By default it is processor time of this thread, in which waiting for a processor that others have does not count.
    """
    numbers = {
        name: _calls_that_last(each, settings.round_seconds / _SLICES, clock) for name, each in functions.items()
    }
    turns = _SLICES if min(numbers.values()) > 1 else 3  # of slow functions one call is a slice already
    medians: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(settings.rounds):
        slices: dict[str, list[float]] = {name: [] for name in functions}
        gc.collect()
        gc.disable()
        try:
            for _ in range(turns):
                for name, function in functions.items():
                    slices[name].append(_slice(function, numbers[name], clock))
        finally:
            gc.enable()
        for name, seconds in slices.items():
            medians[name].append(median(seconds))
    return {name: min(each) for name, each in medians.items()}


def _calls_that_last(function: Callable[[], object], seconds: float, clock: Callable[[], float] = perf_counter) -> int:
    number = 1
    while (spent := _slice(function, number, clock) * number) < seconds / 4:
        number *= max(2, min(10, int(seconds / 4 / max(spent, 1e-9))))
    return max(1, round(number * seconds / spent))


def _round(function: Callable[[], object], slices: int, number: int) -> float:
    gc.collect()
    gc.disable()
    try:
        return median(_slice(function, number) for _ in range(slices))
    finally:
        gc.enable()


def _slice(function: Callable[[], object], number: int, clock: Callable[[], float] = perf_counter) -> float:
    start = clock()
    for _ in range(number):
        function()
    return (clock() - start) / number
