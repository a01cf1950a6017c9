"""Latencies in bins, from which quantiles come out within a stated error (§10.4)."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log
from typing import Final

RELATIVE_ERROR: Final = 0.05
"""A quantile differs by at most this share from the duration of the call that stands at it."""

SHORTEST_MS: Final = 0.001
"""Whatever took less counts as this."""

LONGEST_MS: Final = 86_400_000.0
"""Whatever took longer than a day counts as this."""

# Bins whose bounds grow by one factor: the middle of each is within the error of everything in it (as in DDSketch).
_GROWTH: Final = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_SCALE: Final = 1 / log(_GROWTH)


def bin_of(duration_ms: float) -> int:
    """The bin that counts this duration; NaN and negative durations count as the shortest."""
    if not duration_ms > SHORTEST_MS:
        return _SHORTEST_BIN
    if duration_ms > LONGEST_MS:
        return _LONGEST_BIN
    return ceil(log(duration_ms) * _SCALE)


_SHORTEST_BIN: Final = ceil(log(SHORTEST_MS) * _SCALE)
_LONGEST_BIN: Final = ceil(log(LONGEST_MS) * _SCALE)


def milliseconds_of(bin_number: int) -> float:
    """The duration that stands for all in a bin: the one that is equally far, in proportion, from both bounds."""
    return 2 * _GROWTH**bin_number / (_GROWTH + 1)


def quantile(bins: Mapping[int, int], share: float) -> float | None:
    """The duration in milliseconds that ``share`` of the calls did not exceed, by nearest rank; None without calls.

    ``bins`` counts calls by bin.
    """
    calls = sum(bins.values())
    if not calls:
        return None
    rank, passed = max(1, ceil(share * calls)), 0
    for number in sorted(bins):
        passed += bins[number]
        if passed >= rank:
            return milliseconds_of(number)
    raise AssertionError("the ranks of all bins add up to the number of calls")
