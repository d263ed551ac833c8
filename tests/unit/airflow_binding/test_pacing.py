from datetime import timedelta

import pytest

from plimsoll_airflow.wiring.core import run_poll_s


@pytest.mark.parametrize(("minutes", "run_s"), [(0.5, 2), (2, 3), (150, 30)])
def test_runs_of_long_loads_are_looked_at_less_often(minutes: float, run_s: int) -> None:
    assert run_poll_s(timedelta(minutes=minutes)) == run_s
