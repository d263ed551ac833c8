"""Processes as they are recorded: who runs, and what is said of who does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll_airflow.local import processes
from plimsoll_airflow.local.errors import StackError
from plimsoll_airflow.local.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.create()
    return home


def test_a_recorded_process_that_runs_is_found(home: Home) -> None:
    processes.note_session(home, "triggerer", os.getpid())
    assert processes.noted(home, "triggerer").pid == os.getpid()


def test_of_a_recorded_process_that_has_ended_the_last_lines_are_told(home: Home) -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as ended:
        pass
    processes.note_session(home, "triggerer", ended.pid)
    home.log("triggerer").write_text("aground\n")
    with pytest.raises(StackError, match="triggerer has ended:\naground"):
        processes.noted(home, "triggerer")


def test_a_start_that_takes_too_long_is_not_told_as_an_end(home: Home) -> None:
    home.log("airflow").write_text("importing\n")
    assert "airflow was not done after 180 s:\nimporting" in str(processes.late(home, "airflow", 180.0))


def test_the_log_of_an_earlier_start_is_kept(home: Home) -> None:
    home.log("triggerer").write_text("earlier")
    with processes.fresh_log(home, "triggerer") as log:
        log.write(b"now")
    logs = {path.name: path.read_text() for path in home.run.glob("*.log")}
    assert logs == {"triggerer.previous.log": "earlier", "triggerer.log": "now"}
