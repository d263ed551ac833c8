"""`make status` passes on what the launcher says: that Airflow is down is an answer, and no error of make's."""

import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(("ended_with", "failed"), [(0, False), (1, False), (2, True)])
def test_only_a_launcher_that_fails_is_an_error(tmp_path: Path, ended_with: int, failed: bool) -> None:
    launcher = tmp_path / ".venv" / "bin" / "python"
    launcher.parent.mkdir(parents=True)
    launcher.write_text(f"#!/bin/sh\necho 'this is the state'\nexit {ended_with}\n")
    launcher.chmod(0o755)
    code, output = status(tmp_path)
    assert (code != 0) is failed
    assert output.splitlines()[0] == "this is the state"
    assert ("***" in output) is failed


def test_a_checkout_that_is_not_set_up_is_told_how_to_be(tmp_path: Path) -> None:
    assert status(tmp_path) == (0, "not set up: make setup\n")


def status(folder: Path) -> tuple[int, str]:
    """Exit code and output of `make status` with a launcher that is a stand-in."""
    shutil.copy(CHECKOUT / "Makefile", folder)
    ended = subprocess.run(
        ["make", "status"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, ended.stdout
