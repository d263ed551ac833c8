"""A test that measures again leaves a trace: in the report in JUnit's format, and at the end of the run."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from tests.support.processes import PATIENCE_S
from tests.support.suite.groups import CHECKOUT

_TESTS = """
import pytest
from tests.support.suite.tries import tries

def measured(needed):
    return next(number for number in tries() if number == needed)

@pytest.fixture(scope="module")
def campaign():
    measured(2)

def test_of_a_campaign(campaign):
    pass

def test_of_three():
    measured(3)
    measured(1)

def test_of_one():
    measured(1)

def test_that_measures_nothing():
    pass
"""


def test_the_tries_of_each_test_are_told(tmp_path: Path) -> None:
    (tmp_path / "test_tries.py").write_text(_TESTS)
    options = ["-p", "xdist", "-p", "tests.conftest", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "--numprocesses=1", "--junitxml=report.xml", *options, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": f"{CHECKOUT}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [line for line in ended.stdout.splitlines() if " tries: " in line] == [
        "2 tries: test_tries.py::test_of_a_campaign",
        "3 tries: test_tries.py::test_of_three",
    ]
    cases = ElementTree.parse(tmp_path / "report.xml").iter("testcase")
    noted = {case.attrib["name"]: [one.attrib["value"] for one in case.iter("property")] for case in cases}
    assert noted == {
        "test_of_a_campaign": ["2"],
        "test_of_three": ["3"],
        "test_of_one": ["1"],
        "test_that_measures_nothing": [],
    }
