"""Which Pythons are supported: one answer in all the places that ask."""

import re
import tomllib
from pathlib import Path

from plimsoll.adapters.machine import PYTHONS

CHECKOUT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
(OLDEST, NEWEST) = (f"{major}.{minor}" for major, minor in PYTHONS)


def test_the_package_the_doctor_and_make_take_the_same_ones() -> None:
    (_, oldest), (major, newest) = PYTHONS
    assert PROJECT["project"]["requires-python"] == f">={OLDEST},<{major}.{newest + 1}"
    assert f"not {PYTHONS[0]} <= sys.version_info[:2] <= {PYTHONS[1]})" in MAKEFILE
    tried = re.search(r"^PYTHONS := (.*)$", MAKEFILE, re.MULTILINE)
    assert tried
    assert tried[1].split() == [f"python3.{minor}" for minor in range(newest, oldest - 1, -1)] + ["python3"]


def test_style_types_and_locks_are_those_of_the_oldest() -> None:
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + OLDEST.replace(".", "")
    assert PROJECT["tool"]["mypy"]["python_version"] == OLDEST
    assert f"--universal --python-version {OLDEST} " in MAKEFILE


def test_the_image_is_of_a_supported_one(dockerfile: list[str]) -> None:
    found = re.search(r"-python3\.(\d+)$", next(line for line in dockerfile if line.startswith("ARG AIRFLOW_IMAGE=")))
    assert found
    assert PYTHONS[0] <= (3, int(found[1])) <= PYTHONS[1]
