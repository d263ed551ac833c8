"""Which Python `make` takes: tried with stand-ins on PATH that answer as Pythons of other versions would."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
MADE = "made-by"
SHIM = "echo 'pyenv: command not found' >&2; exit 127"
WITHOUT_VENV = 'case "$*" in *ensurepip*) exit 1;; esac; exit 0'
TOO_NEW = "exit 1"
# A venv whose `python` answers as this very Python does, and whose `pip` works.
WORKS = f"""case "$*" in *"-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python; basename "$0" > {MADE};; esac
case "$1" in -V) basename "$0";; esac"""

Make = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Run `make venv` in a folder of its own, with nothing on PATH but these Pythons and the usual tools."""
    shutil.copy(CHECKOUT / "Makefile", tmp_path)
    programs = tmp_path / "programs"
    programs.mkdir()
    for tool in ("sh", "mkdir", "cp", "basename", "make"):
        (programs / tool).symlink_to(str(shutil.which(tool)))

    def run(*arguments: str, **pythons: str) -> "subprocess.CompletedProcess[str]":
        for name, does in pythons.items():
            script = programs / name.replace("_", ".")
            script.write_text(f"#!/bin/sh\n{does}\n")
            script.chmod(0o755)
        environment = {"PATH": str(programs), "HOME": os.environ["HOME"]}
        return subprocess.run(
            [str(programs / "make"), "venv", *arguments],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    return run


def test_it_takes_the_newest_that_works(make: Make, tmp_path: Path) -> None:
    done = make(python3_14=SHIM, python3_13=WITHOUT_VENV, python3_12=WORKS, python3_11=WORKS, python3=TOO_NEW)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / MADE).read_text() == "python3.12\n"


def test_an_environment_of_another_suitable_python_is_kept(make: Make, tmp_path: Path) -> None:
    make(python3_12=WORKS)
    (tmp_path / MADE).unlink()
    assert make(python3_13=WORKS).returncode == 0
    assert not (tmp_path / MADE).exists()


def test_one_that_is_asked_for_replaces_it(make: Make, tmp_path: Path) -> None:
    make(python3_13=WORKS)
    assert make("PYTHON=python3.12", python3_12=WORKS).returncode == 0
    assert (tmp_path / MADE).read_text() == "python3.12\n"


def test_it_says_what_it_needs_and_tried_where_there_is_none(make: Make) -> None:
    done = make(python3_14=SHIM, python3=TOO_NEW)
    assert done.returncode == 2
    assert "Plimsoll needs Python 3.11, 3.12, 3.13 or 3.14" in done.stderr
    assert "tried: python3.14 python3.13 python3.12 python3.11 python3" in done.stderr
    assert "apt install python3-venv" in done.stderr
    done = make(f"PYTHON={sys.executable}-not-there")
    assert f"tried: {sys.executable}-not-there" in done.stderr
