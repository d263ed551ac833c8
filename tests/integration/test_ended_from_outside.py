"""Tests and measurements that are terminated undo what they did: their processes would live on."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.processes import CHECKOUT

PATIENCE_S = 120.0

# As a shell leaves it to what it starts in the background.
_IN_BACKGROUND = f"""
import faulthandler, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
faulthandler.dump_traceback_later({PATIENCE_S}, exit=True)  # tells where it hangs, and ends it
"""
_MEASUREMENT = """
import benchmarks, time
try:
    print("begun", flush=True)
    while True:
        time.sleep(0.1)  # a signal just before a long sleep would wait for its end
finally:
    print("undone")
"""
_RUN_TESTS = "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
_TEST = """
import pytest, time

@pytest.fixture
def something():
    yield
    print("undone")

def test(something):
    print("begun", flush=True)
    while True:
        time.sleep(0.1)  # as above
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_measurement_ends_in_order(number: signal.Signals) -> None:
    assert _ended_by(number, _MEASUREMENT) == "undone"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_tests_end_in_order(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text(_TEST)
    options = ["--capture=no", "-p", "tests.conftest", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    assert "undone" in _ended_by(number, _RUN_TESTS, *options, str(tmp_path))


def _ended_by(number: signal.Signals, program: str, *arguments: str) -> str:
    """Return what the program still says after the signal."""
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
        return process.communicate()[0].strip()
