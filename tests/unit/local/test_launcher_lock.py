"""One launcher at a time."""

import os
from pathlib import Path

import pytest

from plimsoll_airflow.local.home import Home, StackBusy
from plimsoll_airflow.local.launcher import launcher_lock


def test_a_second_launcher_is_refused_and_told_of_the_first(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    message = rf"`make demo`, process {os.getpid()}"
    with launcher_lock(home, "make demo"), pytest.raises(StackBusy, match=message), launcher_lock(home, "make up"):
        pytest.fail("two launchers at once")
    with launcher_lock(home, "make up"):
        assert "make up" in (home.run / "launcher").read_text()
