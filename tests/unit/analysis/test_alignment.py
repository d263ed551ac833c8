import pytest
from tests.support.campaigns.interval_logs import STARTED_AT_S
from tests.unit.analysis.tracks import steady, track

from plimsoll.analysis.attempt.alignment import Schedule, misfits, windows
from plimsoll.analysis.logs.operations import Track


def schedule(warmup_s: float, interval_s: float = 10.0, planned: int | None = None) -> Schedule:
    return Schedule(STARTED_AT_S, warmup_s, interval_s, planned)


def outline(tracks: list[Track], plan: Schedule) -> list[tuple[float, float, str]]:
    return [(window.start_s, window.duration_s, window.phase) for window in windows(tracks, plan)]


def test_intervals_begin_at_the_end_of_warm_up_in_both_directions() -> None:
    assert outline([steady(48)], schedule(25.0)) == [
        (0.0, 5.0, "warm-up"),
        (5.0, 10.0, "warm-up"),
        (15.0, 10.0, "warm-up"),
        (25.0, 10.0, "judged"),
        (35.0, 10.0, "judged"),
        (45.0, 3.0, "partial"),
    ]


def test_each_window_holds_its_own_records_of_every_track() -> None:
    found = windows([steady(20), steady(20)], schedule(0.0))
    assert [window.parts for window in found] == [(slice(0, 10), slice(0, 10)), (slice(10, 20), slice(10, 20))]


def test_jitter_moves_no_record_into_another_window() -> None:
    jittered = track(*((place + (0.003 if place % 2 else -0.002) * (place > 0), 1.0) for place in range(30)))
    assert [window.parts[0] for window in windows([jittered], schedule(10.0))] == [
        slice(0, 10),
        slice(10, 20),
        slice(20, 30),
    ]


def test_a_slow_clock_shortens_windows_but_loses_nothing() -> None:
    drifting = steady(300, length=1.001)
    found = windows([drifting], schedule(100.0))
    assert sum(window.parts[0].stop - window.parts[0].start for window in found) == 300
    assert list(misfits([drifting], schedule(100.0))) == []


def test_the_shorter_track_ends_what_is_judged() -> None:
    assert outline([steady(20), steady(18)], schedule(0.0)) == [(0.0, 10.0, "judged"), (10.0, 10.0, "partial")]


def test_a_window_before_or_after_a_tracks_records_holds_none_of_them() -> None:
    late = track(*((place, 1.0) for place in range(10, 20)))
    found = windows([steady(30), late], schedule(0.0))
    assert [len(range(30)[window.parts[0]]) for window in found] == [10, 10, 10]
    assert [len(late.records[window.parts[1]]) for window in found] == [0, 10, 0]


def test_what_comes_after_the_planned_intervals_is_not_judged() -> None:
    assert outline([steady(33)], schedule(10.0, planned=1)) == [
        (0.0, 10.0, "warm-up"),
        (10.0, 10.0, "judged"),
        (20.0, 10.0, "partial"),
        (30.0, 3.0, "partial"),
    ]


def test_a_last_record_that_ends_a_moment_early_completes_its_interval() -> None:
    early = track(*((place, 1.0) for place in range(9)), (9.0, 0.98))
    assert outline([early], schedule(0.0)) == [(0.0, 9.98, "judged")]


def test_long_records_fit_intervals_of_their_own_length_or_a_multiple() -> None:
    records = steady(12, length=10.0)
    assert list(misfits([records], schedule(30.0, 10.0))) == []
    assert list(misfits([records], schedule(30.0, 30.0))) == []


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        (schedule(35.0, 10.0), "do not fit intervals of 10 s after 35 s of warm-up: a border lies"),
        (schedule(30.0, 25.0), "do not fit intervals of 25 s after 30 s of warm-up: a border lies"),
        (schedule(30.0, 5.0), "its records of 10 s are longer than intervals of 5 s"),
        (Schedule(STARTED_AT_S - 3.0, 30.0, 10.0), r"begins +3.000 s from the start of the timed run"),
        (Schedule(STARTED_AT_S + 20.0, 30.0, 10.0), r"begins -20.000 s from the start of the timed run"),
    ],
)
def test_records_that_fit_no_interval_are_refused(plan: Schedule, fault: str) -> None:
    (found,) = misfits([steady(12, length=10.0)], plan)
    assert fault in found
