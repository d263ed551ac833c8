"""What a run of tests has started ends with it, even when it was killed."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from tests.support.processes import until
from tests.support.suite.control_group import joined
from tests.support.suite.groups import CHECKOUT
from tests.support.suite.leftovers import MARK

PATIENCE_S = 120.0
_HASTE = "from tests.support.suite import leftovers\nleftovers.UNDOING_S = 0\n"
_TEST = """
import subprocess, time

def test():
    for known in ({"env": {}}, {}):  # the first tells nothing of whose it is
        print("started", subprocess.Popen(["sleep", "600"], **known).pid, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def mark() -> str:
    """Provide one of this test alone: processes of others on the machine are looked at, too."""
    return uuid.uuid4().hex


@pytest.fixture
def sleepers(mark: str, tmp_path: Path) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Provide a process of a run, one whose environment names a place in the run's folder, and somebody else's."""
    of_one_run = ({MARK: f"outer {mark}"}, {"PLIMSOLL_WORK": f"{tmp_path}/mine/work"})
    with ExitStack() as running:
        started = []
        for own in (*of_one_run, {MARK: f"{mark}-not", "PLIMSOLL_WORK": f"{tmp_path}/mine-not"}):
            process = running.enter_context(subprocess.Popen(["sleep", "600"], env={**os.environ, **own}))
            running.callback(process.kill)
            started.append(process)
        yield started


def test_only_processes_of_the_run_are_ended(
    sleepers: list["subprocess.Popen[bytes]"], mark: str, tmp_path: Path
) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.support.suite.leftovers", mark, f"{tmp_path}/mine", "0"],
        stdin=subprocess.DEVNULL,
        cwd=CHECKOUT,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    *ours, others = sleepers
    assert [process.wait(PATIENCE_S) for process in ours] == [-signal.SIGKILL] * 2
    assert others.poll() is None
    assert ended.stderr.count("sleep 600") == 2


def test_a_run_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text(_TEST)
    (tmp_path / "conftest.py").write_text(_HASTE)
    options = ["--capture=no", "-p", "tests.conftest", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        cwd=CHECKOUT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as run:
        assert run.stdout is not None
        lines = (int(line.split()[-1]) for line in run.stdout if "started" in line)
        unknown, known = next(lines), next(lines)
        run.kill()
    until(lambda: not psutil.pid_exists(known), "the end of what the test has started", patience_s=PATIENCE_S)
    if joined():
        until(lambda: not psutil.pid_exists(unknown), "the end of what has no mark", patience_s=PATIENCE_S)
    else:
        psutil.Process(unknown).kill()
