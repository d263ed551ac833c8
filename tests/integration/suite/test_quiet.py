"""The suite's own rules, in a run of its own with two processes."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.processes import PATIENCE_S
from tests.support.suite.groups import CHECKOUT

_TESTS = """
import pytest, time
from pathlib import Path

def note(name):
    began = time.monotonic()
    time.sleep(SECONDS)
    with Path(__file__).with_name("spans.txt").open("a") as file:
        file.write(f"{name} {began} {time.monotonic()}\\n")

@pytest.fixture(scope="module", autouse=True)
def fixture():
    note("FIXTURE")
    yield
    note("FIXTURE")

@pytest.mark.parametrize("number", range(4))
def test(number):
    note("NAME")
"""


def test_a_quiet_test_with_its_fixtures_runs_beside_no_other(tmp_path: Path) -> None:
    """The process that runs `loud` begins with `quiet` while the other one still has most of `other` before it."""
    quiet_too = "pytestmark = pytest.mark.quiet\n"
    for name, seconds, mark in (("loud", "0.05", ""), ("quiet", "0.1", quiet_too), ("other", "0.4", "")):
        tests = _TESTS.replace("FIXTURE", name).replace("NAME", name).replace("SECONDS", seconds)
        (tmp_path / f"test_{name}.py").write_text(tests + mark)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = quiet\n")

    ended = _run(tmp_path)

    assert ended.returncode == 0, ended.stdout
    lines = [line.split() for line in (tmp_path / "spans.txt").read_text().splitlines()]
    spans = [(name, float(began), float(over)) for name, began, over in lines]
    assert len(spans) == 3 * 6
    quiet = [span for span in spans if span[0] == "quiet"]
    others = [span for span in spans if span[0] != "quiet"]
    assert not [(one, other) for one in quiet for other in others if one[1] < other[2] and other[1] < one[2]]


def _run(folder: Path) -> "subprocess.CompletedProcess[str]":
    options = ["-p", "xdist", "-p", "tests.conftest", "-p", "no:cacheprovider", f"--rootdir={folder}"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, "--numprocesses=2", "--dist=loadscope", str(folder)],
        cwd=CHECKOUT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
