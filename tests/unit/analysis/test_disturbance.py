from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest

from plimsoll.analysis.attempt.disturbance import Collected, Disturbed, disturbed, is_known
from plimsoll.analysis.attempt.judgement import MissedInterval
from plimsoll.domain.keys.host_bounds import Disturbance
from plimsoll.domain.keys.process import GeneratorSecond

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
CALM = {"cpu_others": 0.02, "cpu_steal": 0.0, "cpu_throttled": 0.0, "others_top": ""}


def samples(*intervals: dict[str, Any], host: str = "node1") -> pd.DataFrame:
    """Return a sample of each second of intervals of 10 s, written some milliseconds late."""
    rows = [
        {"host": host, "time_s": START.timestamp() + 10 * number + second + 1.003, **CALM, **interval}
        for number, interval in enumerate(intervals)
        for second in range(10)
    ]
    return pd.DataFrame(rows)


def missed(*numbers: int, late_ms: float = 300.0) -> list[MissedInterval]:
    return [MissedInterval(10.0 * number, 10.0 * number + 10, late_ms, 110.0) for number in numbers]


def second(at_s: float, **changes: Any) -> GeneratorSecond:
    return replace(GeneratorSecond(START + timedelta(seconds=at_s), 0.0, 0.0, 0.5, lag_ms=0.0), **changes)


def found(
    numbers: list[MissedInterval],
    table: pd.DataFrame | None = None,
    *seconds: GeneratorSecond,
    bounds: Disturbance | None = None,
    ahead_ms: dict[str, float] | None = None,
) -> Disturbed | None:
    collected = Collected(START, pd.DataFrame() if table is None else table, seconds, ahead_ms or {}, 1000.0)
    return disturbed(numbers, collected, bounds or Disturbance())


def sentence(*arguments: Any, **options: Any) -> str:
    noise = found(*arguments, **options)
    assert noise is not None
    return noise.sentence


BUSY = {"cpu_others": 0.76, "others_top": "yes(77)=0.5000;cc1(9)=0.2600"}


def test_what_took_how_much_when_and_on_which_host_is_said() -> None:
    assert sentence(missed(0, 1), samples(BUSY, BUSY)) == (
        "noise in each of 2 missed intervals: other programs took 76.0% of the processors of node1 "
        "(12:00:00 to 12:00:20 UTC, allowed: 10%; most by yes(77) 50.0%, cc1(9) 26.0%)"
    )


def test_one_undisturbed_miss_is_enough_for_the_miss_to_count() -> None:
    assert found(missed(0, 1, 2), samples(BUSY, {}, BUSY)) is None
    assert found(missed(0, 2), samples(BUSY, {}, BUSY)) is not None


def test_noise_outside_of_missed_intervals_excuses_nothing() -> None:
    assert found(missed(1), samples(BUSY, {}, BUSY)) is None


def test_nothing_missed_is_not_disturbed() -> None:
    assert found([], samples(BUSY)) is None


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("cpu_steal", "other machines took 12.0% of the processors of node1"),
        ("cpu_throttled", "a CPU quota on node1 was used up in 12.0% of all periods"),
    ],
)
def test_steal_and_throttling_disturb_too(column: str, words: str) -> None:
    assert words in sentence(missed(0), samples({column: 0.12}))
    assert found(missed(0), samples({column: 0.049})) is None


def test_whose_quota_was_used_up_for_how_long_and_what_to_do_is_said() -> None:
    throttled = {"cpu_throttled": 0.99, "throttled_ms": 1800.0, "throttled_group": "/limited"}
    assert sentence(missed(0), samples(throttled)).endswith(
        "a CPU quota on node1 was used up in 99.0% of all periods (12:00:00 to 12:00:10 UTC, allowed: 5%; processes of "
        "control group /limited waited for 18.0 s, over all processors: raise its limit, or write "
        "`disturbance: {throttled: 100%}` where it is part of what is measured)"
    )


def test_bounds_are_the_definition_s() -> None:
    wide, narrow = (Disturbance.model_validate({"foreign_cpu": share}) for share in ("80%", "3%"))
    assert found(missed(0), samples(BUSY), bounds=wide) is None
    assert found(missed(0), samples({"cpu_others": 0.04}), bounds=narrow) is not None


def test_noise_on_any_host_of_the_cell_disturbs_and_hosts_may_take_turns() -> None:
    table = pd.concat([samples(BUSY, {}), samples({}, {"cpu_steal": 0.3}, host="node2")])
    words = sentence(missed(0, 1), table)
    assert "node1 in 1 of them (12:00:00 to 12:00:10 UTC" in words
    assert "node2 in 1 of them (12:00:10 to 12:00:20 UTC" in words


def test_the_greatest_multiple_of_a_bound_comes_first() -> None:
    noise = found(missed(0), samples({"cpu_others": 0.2, "cpu_steal": 0.4}))
    assert noise is not None
    assert noise.sentence.startswith("noise in the only missed interval: other machines took 40.0%")
    assert noise.size == pytest.approx(8.0)


def test_what_was_not_sampled_disturbs_nothing() -> None:
    old = samples(BUSY).drop(columns=["cpu_others", "cpu_throttled", "others_top"])
    assert found(missed(0), old) is None
    assert found(missed(0)) is None
    assert not is_known(Collected(START, pd.DataFrame(), (), {}, 1000.0))
    assert is_known(Collected(START, old, (), {}, 1000.0))


def test_programs_that_the_sampler_could_not_name_are_left_out() -> None:
    assert "most by" not in sentence(missed(0), samples({"cpu_others": 0.5, "others_top": float("nan")}))


def test_the_load_generator_s_own_lateness_explains_a_miss_of_which_it_is_the_larger_part() -> None:
    words = sentence(missed(0, late_ms=210.0), None, second(5.0, hiccup_ms=112.0))
    assert words.endswith("the load generator on load stalled or was late by 112 ms "
                         "(12:00:00 to 12:00:10 UTC, allowed: 110 ms)")  # fmt: skip
    assert found(missed(0, late_ms=210.0), None, second(5.0, lag_ms=112.0)) is not None
    assert found(missed(0, late_ms=1800.0), None, second(5.0, hiccup_ms=460.0)) is None


def test_a_stall_too_short_to_make_an_interval_miss_excuses_nothing() -> None:
    assert found(missed(0, late_ms=105.0), None, second(5.0, hiccup_ms=109.0)) is None
    wide = Disturbance.model_validate({"generator_lag": "50ms"})
    assert found(missed(0, late_ms=105.0), None, second(5.0, hiccup_ms=109.0), bounds=wide) is not None


def test_a_second_that_only_touches_an_interval_s_edge_is_not_in_it() -> None:
    late = second(10.003, hiccup_ms=200.0)
    assert found(missed(1), None, second(9.0), late, second(11.0)) is None
    assert found(missed(0), None, second(9.0), late, second(11.0)) is not None


def test_a_long_stall_disturbs_every_interval_that_it_reaches() -> None:
    late = second(13.0, hiccup_ms=9000.0)
    assert found(missed(0, 1, late_ms=9500.0), None, second(4.0), late) is not None


def test_an_interval_that_begins_with_what_noise_left_is_disturbed_too() -> None:
    """A burst of noise ends, and what waited is answered in the next interval, which is calm."""
    behind, caught_up = second(10.003, in_flight=50, backlog=450), second(20.003, in_flight=3, backlog=0)
    words = sentence(missed(0, 1), samples(BUSY, {}), behind, caught_up)
    assert "noise before it had left 500 ms of the load without an answer on load in 1 of them" in words
    assert found(missed(1), samples(BUSY, {}), behind) is not None
    assert found(missed(0, 1, 2), samples(BUSY, {}, {}), behind, caught_up) is None
    assert found(missed(0, 1), samples(BUSY, {}), second(10.003, in_flight=9, backlog=100)) is None


def test_a_backlog_that_no_noise_left_is_the_database_s() -> None:
    behind = [second(at_s, in_flight=50, backlog=450) for at_s in (10.003, 20.003)]
    assert found(missed(1, 2), samples({}, {}, {}), *behind) is None


def test_noise_of_an_interval_of_another_length_that_ends_later_left_nothing_behind() -> None:
    """Two service levels: of intervals of 10 s and of 60 s."""
    calm_then_noisy = samples({}, {}, {}, BUSY, BUSY, {})
    seconds = [second(at_s, in_flight=400 * (at_s == 10), backlog=0) for at_s in range(1, 61)]
    of_10s = missed(1, 3, 4)
    assert found(of_10s, calm_then_noisy, *seconds) is None
    long = MissedInterval(0.0, 60.0, 900.0, 700.0)
    assert found([long, *of_10s], calm_then_noisy, *seconds) is None


def test_what_noise_left_counts_though_intervals_of_another_length_lie_between() -> None:
    late, behind = second(6.0, hiccup_ms=300.0), second(10.003, in_flight=50, backlog=450)
    short = MissedInterval(5.0, 7.0, 300.0, 110.0)
    assert found([*missed(0), short, *missed(1)], None, second(5.0), late, second(7.0), behind) is not None


def test_what_noise_left_may_last_for_several_intervals() -> None:
    behind = [second(at_s, in_flight=50, backlog=4500) for at_s in (10.003, 20.003)]
    assert found(missed(0, 1, 2), samples(BUSY, {}, {}), *behind) is not None


def test_noise_that_leaves_processors_does_not_explain_that_nothing_was_answered() -> None:
    silent = [replace(interval, is_silent=True) for interval in missed(0, 1, late_ms=10_000.0)]
    assert found(missed(0, 1, late_ms=10_000.0), samples(BUSY, BUSY)) is not None
    assert found([missed(0)[0], silent[1]], samples(BUSY, BUSY)) is None
    held = {"cpu_steal": 0.97}
    assert "other machines took 97.0%" in sentence(silent, samples(held, held))


def test_a_backlog_that_noise_left_does_not_explain_that_nothing_was_answered() -> None:
    waiting = second(10.2, in_flight=200, backlog=300)
    assert found(missed(0, 1), samples(BUSY, {}), waiting) is not None
    silent = replace(missed(1)[0], is_silent=True)
    assert found([missed(0)[0], silent], samples(BUSY, {}), waiting) is None
