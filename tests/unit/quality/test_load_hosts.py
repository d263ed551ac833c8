from datetime import timedelta
from math import isnan

import pytest
from tests.support.campaigns import sound_attempt as sound

from plimsoll.domain.attempt.load_summary import ClockReading, LoadStart, LoadSummary
from plimsoll.quality import load_hosts


def apart_ms(*summaries: LoadSummary) -> float:
    exact = ClockReading(offset_ms=0.0)
    start = LoadStart(start=sound.STARTED_AT, clocks={"load": exact, "load2": exact})
    by_host = {"load": summaries[0], "load2": summaries[1]}
    table = load_hosts.start_table(sound.measured(summaries=by_host, load_start=start))
    return float(table.iloc[0]["apart_ms"])


@pytest.mark.parametrize("late_s", [0, 2])
def test_the_starts_that_load_hosts_tell_are_compared_whatever_they_were_to_be(late_s: int) -> None:
    late = sound.summary(started_at=sound.STARTED_AT + timedelta(seconds=late_s))
    assert apart_ms(sound.summary(started_at=sound.STARTED_AT), late) == 1000 * late_s


def test_a_start_that_is_not_told_is_not_known() -> None:
    assert isnan(apart_ms(sound.summary(started_at=sound.STARTED_AT), sound.summary(started_at=None)))
