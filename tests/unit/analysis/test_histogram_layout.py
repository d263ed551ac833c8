from typing import Any

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.analysis.logs.hdr.histograms import (
    UNITS_PER_MS,
    WIDE,
    HistogramLayout,
    Unit,
    reported_values,
    wide_length,
)

HOUR_NS = 3_600_000_000_000
LAYOUTS = [(1, 3), (1, 2), (1, 1), (1, 4), (1000, 3), (1000, 2), (7, 3)]


@pytest.mark.parametrize(("lowest", "digits"), LAYOUTS)
@given(value=st.integers(0, HOUR_NS))
def test_slots_and_reported_values_are_those_of_an_independent_library(lowest: Any, digits: Any, value: Any) -> None:
    layout, reference = HistogramLayout.of(lowest, digits), HdrHistogram(lowest, HOUR_NS, digits)
    slot = layout.index_of(np.array([value]))
    assert slot[0] == reference._counts_index_for(value)
    assert layout.lowest_values(slot)[0] == reference.get_value_from_index(int(slot[0]))
    assert layout.highest_values(slot)[0] == reference.get_highest_equivalent_value(value)


@pytest.mark.parametrize(("lowest", "digits"), LAYOUTS)
@pytest.mark.parametrize("highest", [HOUR_NS, HOUR_NS // 1000, 2**32 - 1, 2**32])
def test_length_is_that_of_an_independent_library(lowest: Any, digits: Any, highest: Any) -> None:
    assert HistogramLayout.of(lowest, digits).length(highest) == HdrHistogram(lowest, highest, digits).counts_len


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_the_wide_histogram_counts_up_to_one_hour(unit: Unit) -> None:
    hour = np.array([3_600_000 * UNITS_PER_MS[unit]])
    assert WIDE.index_of(hour)[0] < wide_length(unit)


def test_a_value_is_reported_at_most_a_thousandth_too_high() -> None:
    slots = np.arange(wide_length("ns"))
    lowest = WIDE.lowest_values(slots)
    assert ((reported_values() - lowest) <= np.maximum(lowest, 1) / 1000).all()
