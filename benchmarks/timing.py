"""How a duration is measured: many calls per round, the median of several rounds."""

import gc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Settings:
    """`rounds` medians are taken of; each lasts about `round_seconds`."""

    rounds: int = 7
    round_seconds: float = 0.2


@dataclass(frozen=True, slots=True)
class Measurement:
    """One case.

    `seconds` is the median time of one call, `compared_with` names the case of which it is a multiple, `megabytes` is
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
    """The median over the rounds; the garbage collector runs between the rounds, not in them."""
    number = _calls_that_last(function, settings.round_seconds)
    return median(_round(function, number) for _ in range(settings.rounds))


def _calls_that_last(function: Callable[[], object], seconds: float) -> int:
    number = 1
    while (spent := _round(function, number) * number) < seconds / 4:
        number *= max(2, min(10, int(seconds / 4 / max(spent, 1e-9))))
    return max(1, round(number * seconds / spent))


def _round(function: Callable[[], object], number: int) -> float:
    gc.collect()
    gc.disable()
    try:
        start = perf_counter()
        for _ in range(number):
            function()
        return (perf_counter() - start) / number
    finally:
        gc.enable()
