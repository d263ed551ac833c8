"""The offset of a clock."""

from typing import Any

import pytest

from plimsoll.adapters.providers.ssh.files import RoundTrip, reading

MS = 1_000_000


def trip(ahead_ms: Any, there_ms: Any, back_ms: Any, busy_ms: int = 1) -> RoundTrip:
    """Return a round trip to a clock that is so much ahead."""
    got = there_ms + ahead_ms
    sent = got + busy_ms
    return RoundTrip(0, got * MS, sent * MS, (there_ms + busy_ms + back_ms) * MS)


@pytest.mark.parametrize("ahead", [-3000, 0, 17])
def test_a_way_as_long_there_as_back_gives_the_exact_offset(ahead: Any) -> None:
    assert reading([trip(ahead, 40, 40)]).offset_ms == ahead


def test_the_quickest_round_trip_wins() -> None:
    assert reading([trip(5, 900, 10), trip(5, 1, 1), trip(5, 10, 400)]).offset_ms == 5


def test_the_hosts_own_time_is_none_of_the_way() -> None:
    assert trip(5, 2, 3, busy_ms=500).on_the_way_ns == 5 * MS


def test_the_error_is_at_most_half_the_way() -> None:
    found = reading([trip(0, 10, 0)])
    assert (found.offset_ms, found.error_ms) == (5, 5)


def test_a_controllers_clock_that_was_set_back_meanwhile_gives_no_negative_error() -> None:
    assert reading([trip(0, -10, 0)]).error_ms == 0
