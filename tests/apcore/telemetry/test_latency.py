"""Quantiles out of bins."""

from collections import Counter
from math import ceil, inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.telemetry.latency import LONGEST_MS, RELATIVE_ERROR, SHORTEST_MS, bin_of, milliseconds_of, quantile

durations = st.floats(SHORTEST_MS, LONGEST_MS)


def nearest_rank(values: list[float], share: float) -> float:
    return sorted(values)[max(1, ceil(share * len(values))) - 1]


@given(st.lists(durations, min_size=1, max_size=300), st.sampled_from([0.0, 0.5, 0.95, 0.99, 1.0]))
def test_a_quantile_is_within_the_stated_error_of_the_exact_one(values: list[float], share: float) -> None:
    found = quantile(Counter(map(bin_of, values)), share)
    assert found == pytest.approx(nearest_rank(values, share), rel=RELATIVE_ERROR * 1.000001)


@given(durations, durations)
def test_bins_keep_the_order_of_durations(one: float, other: float) -> None:
    assert (bin_of(one) <= bin_of(other)) == (one <= other) or bin_of(one) == bin_of(other)


@pytest.mark.parametrize("odd", [0.0, -1.0, nan, -inf])
def test_what_is_no_duration_counts_as_the_shortest(odd: float) -> None:
    assert milliseconds_of(bin_of(odd)) == pytest.approx(SHORTEST_MS, rel=2 * RELATIVE_ERROR)


@pytest.mark.parametrize("long", [LONGEST_MS * 2, inf])
def test_what_takes_longer_than_a_day_counts_as_a_day(long: float) -> None:
    assert bin_of(long) == bin_of(LONGEST_MS)


def test_without_calls_there_is_no_quantile() -> None:
    assert quantile({}, 0.5) is None


def test_bins_fit_into_the_column_that_keeps_them() -> None:
    assert -32768 < bin_of(0) < bin_of(inf) < 32767
