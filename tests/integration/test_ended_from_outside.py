"""Tests and measurements that are terminated undo what they did: their processes would live on."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.processes import CHECKOUT, until

PATIENCE_S = 300.0

# As a shell leaves it to what it starts in the background.
_IN_BACKGROUND = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
_MEASUREMENT = """
import benchmarks, time
try:
    print("begun", flush=True)
    time.sleep(600)
finally:
    print("undone")
"""
_RUN_TESTS = "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
_SLOWLY_UNDONE = """
import pytest, time
from pathlib import Path

@pytest.fixture
def something():
    yield
    # Longer than pytest-xdist waits before it sends SIGINT once more.
    time.sleep(6)
    Path(__file__).with_name("undone").touch()

def test(something):
    Path(__file__).with_name("begun").touch()
    time.sleep(600)
"""
_PATIENT = f"""
from xdist.workermanage import NodeManager

NodeManager.EXIT_TIMEOUT = {PATIENCE_S}
"""
"""After 10 s pytest-xdist would kill a worker, which on a busy machine may not even have been woken by then."""
_TEST = """
import pytest, time

@pytest.fixture
def something():
    yield
    print("undone")

def test(something):
    print("begun", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_measurement_ends_in_order(number: signal.Signals) -> None:
    assert _ended_by(number, _MEASUREMENT) == "undone"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_tests_end_in_order(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text(_TEST)
    options = ["--capture=no", "-p", "tests.conftest", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    assert "undone" in _ended_by(number, _RUN_TESTS, *options, str(tmp_path))


def test_a_worker_undoes_what_it_did_though_it_is_interrupted_twice(tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text(_SLOWLY_UNDONE)
    (tmp_path / "conftest.py").write_text(_PATIENT)
    options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "--numprocesses=1", f"--rootdir={tmp_path}"]
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        stdout=subprocess.DEVNULL,
        cwd=CHECKOUT,
        start_new_session=True,
    ) as run:
        until((tmp_path / "begun").exists, "the test", patience_s=PATIENCE_S)
        os.killpg(run.pid, signal.SIGINT)  # as Ctrl-C does: the worker is told, too
        run.wait(PATIENCE_S)
    assert (tmp_path / "undone").exists()


def _ended_by(number: signal.Signals, program: str, *arguments: str) -> str:
    """What it still says after the signal."""
    with subprocess.Popen(
        [sys.executable, "-c", _IN_BACKGROUND + program, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.endswith("begun\n"):
                break
        process.send_signal(number)
        return process.communicate(timeout=PATIENCE_S)[0].strip()
