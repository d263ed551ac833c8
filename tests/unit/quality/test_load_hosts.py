from datetime import timedelta
from math import isnan

import pandas as pd
import pytest
from tests.fakes.installation import instant_definition
from tests.support.campaigns import sound_attempt as sound
from tests.support.resolved import only_part

from plimsoll.domain.attempt.load_summary import ClockReading, LoadStart, LoadSummary
from plimsoll.quality import load_hosts
from plimsoll.quality.engine import validate
from plimsoll.quality.expectation import CheckedTable


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


def test_hosts_that_started_apart_are_seen_to_though_their_clocks_were_well_known() -> None:
    suite = load_hosts.start_suite(only_part(instant_definition()))
    table = pd.DataFrame([{"apart_ms": 2000.0, "error_ms": 1.0, "drift_ms": 1.0}])
    checks = validate("an attempt", [CheckedTable("Common start", table, suite)]).checks
    assert [(check.name, check.success) for check in checks] == [
        ("common start", False),
        ("clocks at the start", True),
        ("clocks kept together", True),
    ]


def test_a_start_that_is_not_told_is_not_known() -> None:
    assert isnan(apart_ms(sound.summary(started_at=sound.STARTED_AT), sound.summary(started_at=None)))
