"""The image of a team's deployment: the locked versions, and only what it needs from the checkout."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]

Pins = dict[str, dict[str, str]]


def copied(dockerfile: list[str]) -> set[str]:
    """What is copied from the checkout."""
    words = [line.split()[1:-1] for line in dockerfile if line.startswith("COPY ") and "--from" not in line]
    return {source for line in words for source in line}


def test_the_official_image_is_that_of_the_locked_airflow(dockerfile: list[str], pins: Pins) -> None:
    version = pins["requirements.txt"]["apache-airflow"]
    assert f"ARG AIRFLOW_IMAGE=apache/airflow:{version}-python3.13" in dockerfile
    froms = [line.split()[1] for line in dockerfile if line.startswith("FROM ")]
    assert froms == ["${AIRFLOW_IMAGE}"] * 2


def test_everything_installed_is_locked_by_its_hash_or_comes_from_the_checkout(dockerfile: list[str]) -> None:
    installs = [part.strip() for line in dockerfile for part in re.findall(r"pip install[^&]*", line)]
    assert installs
    assert not [one for one in installs if "--require-hashes" not in one and not one.endswith("-e /opt/plimsoll/app")]
    assert not [one for one in installs if "--require-hashes" not in one and "--no-deps" not in one]


def test_it_does_not_run_as_root(dockerfile: list[str]) -> None:
    *_, last = (line.split()[1] for line in dockerfile if line.startswith("USER "))
    assert last not in {"root", "0"}


def test_what_is_copied_is_there_and_nothing_else_reaches_the_build(dockerfile: list[str]) -> None:
    lines = (CHECKOUT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert lines[1] == "*"
    assert copied(dockerfile) == allowed
    assert not [name for name in allowed if not (CHECKOUT / name).exists()]


def test_what_pages_draw_charts_with_is_made_with_the_image_for_nobody_can_keep_it_at_run_time(
    dockerfile: list[str],
) -> None:
    assert [line for line in dockerfile if "from plimsoll.report.runtime import runtime; runtime()" in line]


def test_secrets_are_not_committed() -> None:
    assert ".env" in (CHECKOUT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_a_team_runs_what_everybody_runs_and_a_little_more(pins: Pins) -> None:
    base, team = pins["requirements.txt"], pins["requirements-team.txt"]
    assert base.items() <= team.items()
    added = team.keys() - base.keys()
    assert {"apache-airflow-providers-celery", "apache-airflow-providers-fab", "celery", "redis"} <= added
