"""Which Pythons are supported: one answer in all the places that ask."""

import re
import shlex
import subprocess
import sys
import tomllib

import pytest
from tests.support.suite.groups import CHECKOUT

from plimsoll.adapters.hosts.machine import PYTHONS

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
(OLDEST, NEWEST) = (f"{major}.{minor}" for major, minor in PYTHONS)


def asked_of_make(variable: str) -> str:
    """Return a variable's value, as make sees it."""
    show = ["make", "--no-print-directory", "--eval", f"show: ; $(info $({variable})) @:", "show"]
    return subprocess.run(show, cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


def test_the_package_takes_the_same_ones_as_the_doctor() -> None:
    _, (major, newest) = PYTHONS
    assert PROJECT["project"]["requires-python"] == f">={OLDEST},<{major}.{newest + 1}"


def test_make_tries_them_the_newest_first_and_then_whatever_there_is() -> None:
    (_, oldest), (_, newest) = PYTHONS
    assert asked_of_make("PYTHONS").split() == [
        *(f"python3.{minor}" for minor in range(newest, oldest - 1, -1)),
        "python3",
    ]


@pytest.mark.parametrize("minor", range(8, 18))
def test_make_takes_a_python_if_the_doctor_does(monkeypatch: pytest.MonkeyPatch, minor: int) -> None:
    monkeypatch.setattr(sys, "version_info", (3, minor, 1))
    _, program = shlex.split(asked_of_make("IS_SUITABLE"))
    with pytest.raises(SystemExit) as ended:
        exec(program, {})
    is_refused = bool(ended.value.code)
    assert is_refused is not (PYTHONS[0] <= (3, minor) <= PYTHONS[1])


def test_style_types_and_locks_are_those_of_the_oldest() -> None:
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + OLDEST.replace(".", "")
    assert PROJECT["tool"]["mypy"]["python_version"] == OLDEST
    options = shlex.split(asked_of_make("COMPILE"))
    assert options[options.index("--python-version") + 1] == OLDEST


def test_the_image_is_of_a_supported_one(dockerfile: list[str]) -> None:
    found = re.search(r"-python3\.(\d+)@", next(line for line in dockerfile if line.startswith("ARG AIRFLOW_IMAGE=")))
    assert found
    assert PYTHONS[0] <= (3, int(found[1])) <= PYTHONS[1]
