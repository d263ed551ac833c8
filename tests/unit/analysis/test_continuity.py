import pytest
from tests.unit.analysis.tracks import steady, track

from plimsoll.analysis.logs.operations import Track, continuity_faults, continuity_notes


def faults(*tracks: Track) -> tuple[str, ...]:
    return continuity_faults(tracks, interval_s=10.0)


@pytest.mark.parametrize(
    "sound",
    [
        steady(30),
        steady(1),
        steady(6, length=10.0, start=0.999),
        track((0.0, 1.002), (1.002, 0.999), (2.001, 1.0), (3.002, 0.999)),
        track((0.0, 1.0), (1.0, 1.3), (2.3, 0.7), (3.0, 1.0)),
        track((0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 0.003)),
        track((0.0, 1.0), (1.04, 0.96), (2.0, 1.0)),
    ],
    ids=["exact", "one record", "10 s", "jitter as latte's", "a late tick", "a stub at the end", "a seam of 40 ms"],
)
def test_a_sound_log_has_no_faults(sound: Track) -> None:
    assert faults(sound) == ()


@pytest.mark.parametrize(
    ("unsound", "fault"),
    [
        (
            track((0, 1), (1, 1), (3, 1), (4, 1)),
            "x, line 7: a gap of 1.000 s (records are missing, or the clock jumped forward)",
        ),
        (track((0, 1), (1, 1), (1.5, 1), (2.5, 1)), "x, line 7: two records overlap by 0.500 s"),
        (track((0, 1), (1, 1), (1, 1), (2, 1)), "x, line 7: two records overlap by 1.000 s"),
        (
            track((0, 1), (1, 3), (4, 1), (5, 1)),
            "x, line 6: a record of 3.000 s among records of 1.000 s (wrong interval length, or a clock jump)",
        ),
        (
            track((0, 1), (1, 0.2), (1.2, 1), (2.2, 1)),
            "x, line 6: a record of 0.200 s among records of 1.000 s (wrong interval length, or a clock jump)",
        ),
        (
            track((0, 1), (1, 1), (2, -3), (3, 1), (4, 1)),
            "x, line 7: a record of -3.000 s among records of 1.000 s (wrong interval length, or a clock jump)",
        ),
        (track((100, 1), (101, 1), (60, 1), (61, 1)), "x, line 7: the clock jumped back 41.000 s"),
        (
            track((0, 1), (1, 1), (3602, 1), (3603, 1)),
            "x, line 7: a gap of 3600.000 s (records are missing, or the clock jumped forward)",
        ),
        (
            track((0, 1), (2, 1), (4, 1), (5, 1)),
            "x, line 6: a gap of 1.000 s (records are missing, or the clock jumped forward), and 1 more of the kind",
        ),
    ],
    ids=["gap", "overlap", "twice", "long", "short", "negative", "clock back", "clock forward", "two gaps"],
)
def test_an_unsound_log_is_refused_with_its_line_and_reason(unsound: Track, fault: str) -> None:
    assert faults(unsound) == (fault,)


def test_logs_of_one_run_begin_together() -> None:
    assert faults(steady(30, name="a"), steady(28, start=2.0, name="b")) == (
        "b: begins 2.000 s after a: logs of one run cover the same time",
    )


def test_logs_of_one_run_end_together() -> None:
    assert faults(steady(30, name="a"), steady(15, name="b")) == (
        "b: ends 15.000 s before a: logs of one run cover the same time",
    )


def test_a_log_that_reaches_the_planned_end_may_end_long_before_another() -> None:
    tracks = steady(30, name="a"), steady(15, name="b")
    assert continuity_faults(tracks, interval_s=10.0, planned_end_s=tracks[0].starts[0] + 15.0) == ()
    [fault] = continuity_faults(tracks, interval_s=10.0, planned_end_s=tracks[0].starts[0] + 26.0)
    assert fault.startswith("b: ends 15.000 s before a")


def test_a_few_records_less_at_the_end_are_a_remark() -> None:
    tracks = steady(30, name="a"), steady(28, name="b")
    assert faults(*tracks) == ()
    assert continuity_notes(tracks) == ("b: ends 2.000 s before the longest log; nothing is judged after it",)


def test_logs_that_end_together_need_no_remark() -> None:
    assert continuity_notes([steady(30), track(*((place + 0.002, 1.0) for place in range(30)))]) == ()
