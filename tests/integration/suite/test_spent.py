"""What a run of tests writes down of each test: the CPU seconds of all that it started, whatever became of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.suite.control_group import joined
from tests.support.suite.groups import CHECKOUT
from tests.support.suite.requirements import leave_out

BUSY_S = 1.0
_TEST = f"""
import subprocess, sys

BUSY = "import time\\nwhile time.process_time() < {BUSY_S}: pass"
# Whoever starts it ends at once, so that nobody waits for it; its end closes the pipe.
ORPHAN = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {{BUSY!r}}])"

def test_idle():
    pass

def test_of_an_orphan():
    subprocess.run([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, check=True)
"""


def costs(folder: Path, *options: str) -> dict[str, float]:
    """Return what a run in that folder has written down, by the end of the test's name."""
    given = ["-p", "tests.conftest", "-p", "xdist", f"--rootdir={folder}", *options, str(folder)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run([sys.executable, "-m", "pytest", *given], cwd=CHECKOUT, env=environment, check=True, timeout=120)
    rows = [line.split("\t") for line in (folder / ".pytest_cache" / "cpu-seconds.tsv").read_text().splitlines()]
    return {name.rpartition("::")[2]: float(cost) for cost, name in rows}


@pytest.mark.parametrize("options", [(), ("--numprocesses", "1")], ids=["alone", "in a process of its own"])
def test_a_test_costs_what_its_orphans_use(tmp_path: Path, options: tuple[str, ...]) -> None:
    if not joined():
        leave_out("processes may make no control groups here")
    (tmp_path / "test_them.py").write_text(_TEST)
    found = costs(tmp_path, *options)
    assert found["test_of_an_orphan"] >= BUSY_S > found["test_idle"]
    assert found["(imports and collection)"] > 0
