from datetime import timedelta

import pytest

from plimsoll_airflow.pacing import load_poll_s, run_poll_s


@pytest.mark.parametrize(
    ("minutes", "load_s", "run_s"),
    [(0.5, 1.0, 2), (2, 3.0, 3), (150, 10.0, 30)],
)
def test_long_loads_are_looked_at_less_often(minutes: float, load_s: float, run_s: int) -> None:
    duration = timedelta(minutes=minutes)

    assert load_poll_s(duration) == load_s
    assert run_poll_s(duration) == run_s
