"""How long a load lasts that may be ended once it has missed, and when a campaign has to end."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.keys.timing import Timing, parse_finish_by

LEVEL = {"interval": "10s"}


def shortest(levels: list[dict[str, Any]], **keys: Any) -> timedelta:
    timing = Timing.model_validate({"duration": "150m", "warmup": "30m", **keys})
    return timing.shortest([ServiceLevel.model_validate(level) for level in levels])


@pytest.mark.parametrize(
    ("levels", "keys", "expected"),
    [
        ([LEVEL], {}, timedelta(minutes=150)),
        ([LEVEL], {"stop": "decided"}, timedelta(minutes=30, seconds=50)),
        ([LEVEL], {"stop": "decided", "least_intervals": 30}, timedelta(minutes=35)),
        ([LEVEL], {"stop": "decided", "least_intervals": 10_000}, timedelta(minutes=150)),
        ([{"interval": "20h"}], {"stop": "decided", "least_intervals": 2**31 - 1}, timedelta(minutes=150)),
        ([LEVEL, {"interval": "4s"}], {"stop": "decided"}, timedelta(minutes=31)),
    ],
)
def test_a_load_that_misses_at_once_lasts_for_its_least_intervals(
    levels: list[dict[str, Any]], keys: dict[str, Any], expected: timedelta
) -> None:
    assert shortest(levels, **keys) == expected


def test_more_intervals_than_a_load_generator_can_count_are_refused() -> None:
    with pytest.raises(ValueError, match="less than or equal to 2147483647"):
        shortest([LEVEL], stop="decided", least_intervals=10**21)


def test_timings_without_the_key_are_written_as_before() -> None:
    assert Timing.model_validate({"duration": "2m", "warmup": "1m"}).model_dump(mode="json").keys() == {
        "duration",
        "warmup",
    }


@pytest.mark.parametrize(
    ("levels", "ended_s", "warmup_s", "duration_s"),
    [
        ([LEVEL], 1850, 1800, 1850),
        ([LEVEL], 1857, 1800, 1850),
        ([LEVEL], 1809, 0, 1800),
        ([LEVEL], 43, 0, 40),
        ([LEVEL], 9, 1800, 9000),
        ([LEVEL, {"interval": "4s"}], 1850, 1800, 1840),
        ([{"interval": "500ms"}], 1801, 1800, 1801),
    ],
)
def test_a_load_that_ended_early_is_judged_in_whole_intervals(
    levels: list[dict[str, Any]], ended_s: int, warmup_s: int, duration_s: int
) -> None:
    timing = Timing.model_validate({"duration": "150m", "warmup": "30m"})
    ended = timing.ended_after(timedelta(seconds=ended_s), [ServiceLevel.model_validate(level) for level in levels])
    assert (ended.warmup, ended.duration) == (timedelta(seconds=warmup_s), timedelta(seconds=duration_s))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("8h", timedelta(hours=8)),
        ("2026-12-01T18:00:00+01:00", datetime(2026, 12, 1, 17, tzinfo=UTC)),
        ("2026-12-01 18:00Z", datetime(2026, 12, 1, 18, tzinfo=UTC)),
    ],
)
def test_a_campaign_has_to_end_at_a_moment_or_within_a_time(written: str, meant: object) -> None:
    assert parse_finish_by(written) == meant


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("2026-12-01T18:00:00", r"has no zone: write e\.g\. 2026-12-01T18:00:00\+01:00"),
        ("tomorrow", r"is not a .*; a time with its zone may stand here too, like 2026-12-01T18:00:00\+01:00$"),
        ("9999-12-31T23:59:59-01:00", "is in no year from 1 to 9999 of UTC: write"),
        ("0001-01-01T00:00:00+14:00", "is in no year from 1 to 9999 of UTC: write"),
        ("0s", "more than 0"),
        ("100000h", "at most"),
    ],
)
def test_another_end_is_refused_with_what_to_write(written: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_finish_by(written)
