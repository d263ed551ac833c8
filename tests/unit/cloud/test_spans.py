"""When a host's timers are due."""

from datetime import UTC, datetime

import pytest
from tests.cloud.inside.spans import calendar_seconds, shutdown_seconds, span_seconds

NOW = datetime(2026, 1, 2, 3, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("5min", 300), ("1h 30min", 5400), ("2d", 172800), ("1.5h", 5400), ("500ms", 0.5)]
)
def test_a_span_is_read_as_systemd_reads_it(text: str, seconds: float) -> None:
    assert span_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "5 fortnights", "-3"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="time span"):
        span_seconds(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2026-01-02 03:00:10 UTC", 10), ("2026-01-02T03:01:00Z", 60), ("@1767322810", 10), ("2026-01-02 02:59:00", -60)],
)
def test_a_moment_is_counted_from_now(text: str, seconds: float) -> None:
    assert calendar_seconds(text, NOW) == seconds


def test_a_recurring_calendar_is_refused() -> None:
    with pytest.raises(ValueError, match="daily"):
        calendar_seconds("daily", NOW)


@pytest.mark.parametrize(("when", "seconds"), [("now", 0), ("+5", 300), ("5", 300), ("03:10", 600), ("02:00", 82800)])
def test_shutdown_takes_its_times_as_the_real_one(when: str, seconds: float) -> None:
    assert shutdown_seconds(when, NOW) == seconds
