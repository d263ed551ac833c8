"""How far attempts are, in words."""

from plimsoll.domain.attempt.status import LevelProgress


def test_slow_times_are_written_without_exponents() -> None:
    level = LevelProgress(level="99.9/10s/100ms", judged=2, missed=1, last_ms=1234.4, worst_ms=15_200.0)
    assert str(level) == "p99.9/10s/100ms: 1 of 2 intervals missed, last 1,234 ms, highest 15,200 ms"
