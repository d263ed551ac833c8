"""Processes of a stack as they are started."""

import sys
from pathlib import Path

from plimsoll_airflow.local import processes
from plimsoll_airflow.local.home import Home


def test_a_process_writes_into_its_log_and_that_of_an_earlier_start_is_kept(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    home.log("triggerer").write_text("earlier")
    started = processes.start("triggerer", [sys.executable, "-S", "-c", "print('now')"], home, {})
    assert processes.wait_gone([started], 60.0) == []
    logs = {path.name: path.read_text() for path in home.run.glob("*.log")}
    assert logs == {"triggerer.previous.log": "earlier", "triggerer.log": "now\n"}
    assert home.session_note("triggerer").read_text() == str(started.pid)
