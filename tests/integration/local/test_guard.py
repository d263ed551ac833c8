"""What a launcher has started ends with it, even where nobody can tell it to. One process plays the scheduler here."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.support.processes import CHECKOUT, until

from plimsoll_airflow.local import processes
from plimsoll_airflow.local.home import Home
from plimsoll_airflow.local.launcher import launcher_lock

PATIENCE_S = 120.0
_LAUNCHER = """
import os, sys, time
from pathlib import Path
from plimsoll_airflow.local import processes
from plimsoll_airflow.local.guard import Guard
from plimsoll_airflow.local.home import Home

home = Home(Path(sys.argv[1]))
guard = Guard.start(home, os.environ)
processes.start("scheduler", [sys.executable, "-c", "import time; time.sleep(600)"], home, os.environ)
if sys.argv[2] == "dismisses":
    guard.dismiss()
print(guard.process.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "airflow")
    home.create()
    return home


def test_a_launcher_killed_while_it_starts_a_stack_leaves_nothing(home: Home, tmp_path: Path) -> None:
    _kill_launcher(home, tmp_path, "keeps")
    until(lambda: not processes.members(home), "the end of what it has started", patience_s=PATIENCE_S)


def test_a_stack_that_is_to_stay_outlives_its_launcher(home: Home, tmp_path: Path) -> None:
    guard = _kill_launcher(home, tmp_path, "dismisses")
    until(lambda: _has_ended(guard), "the guard's end", patience_s=PATIENCE_S)
    (left,) = processes.members(home)
    left.process.kill()


def test_a_second_launcher_waits_until_the_first_ones_stack_has_ended(home: Home, tmp_path: Path) -> None:
    _kill_launcher(home, tmp_path, "keeps")
    until(lambda: _is_cleaned_up_or_being_so(home), "the guard", patience_s=PATIENCE_S)
    with launcher_lock(home, "make up"):
        assert not processes.members(home)


def _kill_launcher(home: Home, folder: Path, guard: str) -> int:
    """Start it, kill it with SIGKILL once its stack runs. The process id of its guard."""
    # Clusters that campaigns have left would be looked for below.
    own = {"PLIMSOLL_STORE": str(folder / "store"), "PLIMSOLL_WORK": str(folder / "work"), "PYTHONPATH": str(CHECKOUT)}
    with subprocess.Popen(
        [sys.executable, "-c", _LAUNCHER, str(home.path), guard],
        env={**os.environ, **own, "PLIMSOLL_TOOLKIT": "tests.fakes.instant:toolkit"},
        stdout=subprocess.PIPE,
        text=True,
    ) as launcher:
        assert launcher.stdout is not None
        started = int(launcher.stdout.readline())
        assert processes.members(home)
        launcher.send_signal(signal.SIGKILL)
    return started


def _has_ended(pid: int) -> bool:
    """Tell whether the process is gone, but for what its parent has not asked for."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _is_cleaned_up_or_being_so(home: Home) -> bool:
    owner = home.run / "launcher"
    return owner.exists() and "killed launcher" in owner.read_text()
