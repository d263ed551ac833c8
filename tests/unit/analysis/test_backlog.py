"""Operations that were due and had no answer, out of the generator's own seconds."""

from datetime import UTC, datetime, timedelta

import pandas as pd

from plimsoll.analysis.attempt.unanswered import COLUMNS, backlog_frame, opening_backlog
from plimsoll.domain.attempt.result import OpeningBacklog
from plimsoll.domain.keys.process import GeneratorSecond

STARTED = datetime(2026, 1, 1, tzinfo=UTC)
WARMUP = timedelta(seconds=10)
REPORTED_S = 0.012  # after a second's end


def second(
    end_s: float, in_flight: int | None = 0, backlog: int | None = 0, lag_ms: float | None = 0.1
) -> GeneratorSecond:
    at = STARTED + timedelta(seconds=end_s + REPORTED_S)
    return GeneratorSecond(at, 0.0, 0.0, 0.1, in_flight=in_flight, backlog=backlog, lag_ms=lag_ms)


def opening(*seconds: GeneratorSecond, warmup: timedelta = WARMUP) -> OpeningBacklog | None:
    return opening_backlog(seconds, STARTED + warmup, 200, warmup)


def test_every_interval_has_the_most_of_its_seconds() -> None:
    seconds = [second(9, 40, 500, 3.0), second(10, 50, 700, 1.0), second(11, 50, 600), second(20, 2, 0), second(21, 7)]
    table = backlog_frame(seconds, STARTED, 200, [0.0, 10.0, 20.0])
    assert table.to_dict("list") == {
        "start_s": [0.0, 10.0, 20.0],
        "in_flight": [50, 50, 7],
        "unsent": [700, 600, 0],
        "behind_s": [3.5, 3.0, 0.0],
        "lag_ms": [3.0, 0.1, 0.1],
    }


def test_a_generator_that_tells_nothing_gives_an_empty_table() -> None:
    silent = [GeneratorSecond(STARTED + timedelta(seconds=1), 0.0, 0.0, 0.1)]
    for seconds in ([], silent):
        table = backlog_frame(seconds, STARTED, 200, [0.0, 10.0])
        assert table.empty
        assert list(table.columns) == list(COLUMNS)
    assert backlog_frame([second(1)], STARTED, 200, []).empty


def test_a_lag_that_is_not_told_is_no_number() -> None:
    table = backlog_frame([second(1, lag_ms=None)], STARTED, 200, [0.0])
    assert pd.isna(table["lag_ms"][0])


def test_the_judged_time_begins_with_what_warm_up_left() -> None:
    found = opening(second(9, 50, 900), second(10, 50, 700), second(11, 50, 600))
    assert found == OpeningBacklog(in_flight=50, unsent=700, seconds=3.75)
    assert found.operations == 750


def test_a_second_that_was_reported_late_still_counts() -> None:
    assert opening(second(9, 1, 2), second(10.4, 3, 4)) == OpeningBacklog(in_flight=3, unsent=4, seconds=0.035)


def test_what_was_not_told_about_is_not_known() -> None:
    assert opening() is None
    assert opening(second(10, None, None)) is None
    assert opening(second(7, 1, 1), second(12, 1, 1)) is None


def test_without_warm_up_there_is_nothing_before() -> None:
    assert opening(warmup=timedelta(0)) is None
    assert opening(second(1, 9, 9), warmup=timedelta(0)) == OpeningBacklog(in_flight=0, unsent=0, seconds=0)
