from typing import Any

import pytest
from tests.support.campaigns import sound_attempt as sound
from tests.support.resolved import only_part

from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.quality.miss_cause import NO_CAUSE, error_share, foreign_error_share, held_back_by

ATTEMPTED = 30_000
"""Of `sound.definition`: 1000/s for 30 s."""


def blamed(
    achieved_share: float, cpu_share: float | None = 0.3, *, later: int = 0, was_slow: bool = False, **changes: Any
) -> str:
    """Tell who is; `later`: operations that were answered, but only after the judged time."""
    answered = {"operations": {"writes": round(achieved_share * ATTEMPTED) + later}}
    return held_back_by(
        only_part(sound.definition()),
        sound.summary(**(answered | changes)),
        attempted=ATTEMPTED,
        achieved_share=achieved_share,
        cpu_share=cpu_share,
        was_slow=was_slow,
    ).partition(" (")[0]


def test_a_rate_within_one_per_cent_was_held_back_by_nobody() -> None:
    assert blamed(0.99, in_flight_max=100) == "nobody"
    assert blamed(1.01) == "nobody"


def test_a_generator_with_all_it_may_in_flight_waited_for_the_database() -> None:
    assert blamed(0.9, in_flight_max=100) == "database"
    assert blamed(0.9, in_flight_max=90) == "database"


def test_a_generator_with_room_to_spare_that_was_on_time_is_a_riddle() -> None:
    assert blamed(0.9, in_flight_max=89) == NO_CAUSE
    assert blamed(0.9, in_flight_max=None) == NO_CAUSE


@pytest.mark.parametrize("in_flight", [9, 100])
def test_a_late_or_busy_generator_is_to_blame_even_when_it_was_blocked_too(in_flight: int) -> None:
    # A tenth of 30 s is lost: 3 s, of which the generator's own lateness is a tenth.
    assert blamed(0.9, in_flight_max=in_flight, schedule_lag_p99_ms=300.0) == "load generator"
    assert blamed(0.9, cpu_share=0.9, in_flight_max=in_flight) == "load generator"


def test_a_little_lateness_does_not_explain_a_great_loss() -> None:
    assert blamed(0.9, in_flight_max=100, schedule_lag_p99_ms=299.0) == "database"
    assert blamed(0.4, in_flight_max=100, schedule_lag_p99_ms=1700.0) == "database"


def test_lateness_that_cost_no_operation_is_not_blamed() -> None:
    assert blamed(1.0, schedule_lag_p99_ms=1000.0) == "nobody"
    assert blamed(1.0, cpu_share=0.95) == "nobody"


def test_figures_that_a_generator_does_not_give_are_not_held_against_it() -> None:
    assert blamed(0.9, cpu_share=None, in_flight_max=100, schedule_lag_p99_ms=None) == "database"


def test_failed_operations_were_sent_so_nobody_held_them_back() -> None:
    # 28,500 answered and 1,500 failed are all of 30,000.
    assert blamed(0.95, errors={"client_timeout": 1500}) == "nobody"


def test_operations_under_way_at_the_end_were_sent_so_nobody_held_them_back() -> None:
    # The database stalled across the end for 1.5 % of the judged time.
    assert blamed(0.985, later=450, in_flight_max=450) == "nobody"
    assert blamed(0.985, later=450, in_flight_max=450, schedule_lag_p99_ms=100.0) == "nobody"


def test_a_backlog_that_was_sent_after_the_end_was_not_sent_in_time() -> None:
    assert blamed(0.985, later=450, in_flight_max=100) == "database"
    assert blamed(0.985, later=450, in_flight_max=9) == NO_CAUSE
    assert blamed(0.985, later=450, in_flight_max=9, schedule_lag_p99_ms=300.0) == "load generator"
    assert blamed(0.985, later=450, in_flight_max=None) == NO_CAUSE


def test_operations_given_up_for_lateness_were_never_sent() -> None:
    assert blamed(0.95, errors={"overflow": 1500}, in_flight_max=100) == "database"
    assert blamed(0.95, errors={"overflow": 1500}) == NO_CAUSE
    assert blamed(0.995, errors={"overflow": 60}, in_flight_max=100) == "database"
    assert blamed(1.0, errors={"unfinished": 60}, in_flight_max=100) == "database"


def test_a_run_without_any_operation_was_not_held_back_by_nobody() -> None:
    assert blamed(0.0) == NO_CAUSE


def test_answers_that_were_too_slow_need_no_explanation_of_the_rate() -> None:
    # A database beyond its limit: 603 of 20,000 ops/s were answered, after 29 s.
    assert blamed(0.03, in_flight_max=None, schedule_lag_p99_ms=None, was_slow=True) == "database"
    assert blamed(0.03, in_flight_max=None, schedule_lag_p99_ms=None) == NO_CAUSE
    assert blamed(0.03, cpu_share=0.95, was_slow=True) == "load generator"


def test_what_was_not_measured_is_not_said_to_be_below_its_limit() -> None:
    summary = sound.summary(operations={"writes": 100}, in_flight_max=None, schedule_lag_p99_ms=None)
    told = held_back_by(
        only_part(sound.definition()), summary, attempted=ATTEMPTED, achieved_share=0.1, cpu_share=0.3, was_slow=False
    )
    assert "below the limit: its processors;" in told
    assert "not measured: its lateness, the number of its operations in flight)" in told


@pytest.mark.parametrize("kind", ["skipped", "serialization", "deadlock", "other", "ERROR", "connection", "http 503"])
def test_a_failed_operation_is_the_database_s_doing_whoever_counted_it(kind: str) -> None:
    summary = sound.summary(errors={kind: 124}, operations={"all": 1002})
    assert error_share(summary) == 124 / 1126
    assert foreign_error_share(summary) == 0.0


FULL = "the timed run: reads failed as `other` 30 times, first: ConnectException: Too many open files — SELECT 1"
WRONG = "the timed run: reads failed as `other` 30 times, first: SyntaxError: line 1 no viable alternative — SELEC 1"
SERVER = "the timed run: reads failed as `other` 1 time, first: ServerError: java.lang.AssertionError — SELECT 1"


def test_foreign_is_only_what_is_shown_to_be() -> None:
    errors = {"write_timeout": 10, "other": 30}
    assert foreign_error_share(sound.summary(errors=errors, failures=(FULL, WRONG))) == 30 / 30_040
    assert foreign_error_share(sound.summary(errors=errors, failures=(FULL, SERVER))) == 0.0
    assert foreign_error_share(sound.summary(operations={}, failures=(FULL,))) == 0.0


def test_a_hiccup_misses_an_interval_when_more_than_the_percentile_allows_wait_beyond_the_bound() -> None:
    # p99.9 of 10 s: the operations due in 10 ms may wait longer than 100 ms.
    assert ServiceLevel().stall_ms == pytest.approx(110.0)
    assert ServiceLevel(percentile=100).stall_ms == 100.0
