"""The image of a team's deployment: the locked versions, and only what it needs from the checkout."""

import re
import tomllib
from pathlib import Path

from plimsoll.adapters.hosts.machine import PYTHONS

CHECKOUT = Path(__file__).resolve().parents[3]

Pins = dict[str, dict[str, str]]


def copied(dockerfile: list[str]) -> set[str]:
    """Return what is copied from the checkout."""
    words = [line.split()[1:-1] for line in dockerfile if line.startswith("COPY ") and "--from" not in line]
    return {source for line in words for source in line}


def test_the_official_image_is_that_of_the_locked_airflow(dockerfile: list[str], pins: Pins) -> None:
    """Another Airflow's entry point would start it, on a Python that the lock may have no wheels for.

    The environment that one stage makes runs on the Python of the other.
    """
    (image,) = (line.removeprefix("ARG AIRFLOW_IMAGE=") for line in dockerfile if line.startswith("ARG AIRFLOW_IMAGE="))
    version, python = re.fullmatch(r"apache/airflow:([\d.]+)-python(3\.\d+)@sha256:[0-9a-f]{64}", image).groups()
    oldest, newest = PYTHONS
    assert version == pins["requirements.txt"]["apache-airflow"]
    assert oldest <= tuple(map(int, python.split("."))) <= newest
    assert {line.split()[1] for line in dockerfile if line.startswith("FROM ")} == {"${AIRFLOW_IMAGE}"}


def test_everything_installed_is_locked_by_its_hash_or_comes_alone(dockerfile: list[str]) -> None:
    """An install without either brings whatever versions are the newest on the day of the build, tested by nobody."""
    installs = [part.strip() for line in dockerfile for part in re.findall(r"pip install[^&]*", line)]
    assert installs
    assert not [one for one in installs if "--require-hashes" not in one and "--no-deps" not in one]


def test_it_does_not_run_as_root(dockerfile: list[str]) -> None:
    """A stage goes on as whoever its last step was made as: a step added as root would have every task run as root."""
    *_, last = (line.split()[1] for line in dockerfile if line.startswith("USER "))
    assert last not in {"root", "0"}


def test_what_is_copied_is_there_and_nothing_else_reaches_the_build(dockerfile: list[str]) -> None:
    """A build without what it copies fails, where Docker is alone; with more, secrets can get into an image."""
    lines = (CHECKOUT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert lines[1] == "*"
    assert copied(dockerfile) == allowed
    assert not [name for name in allowed if not (CHECKOUT / name).exists()]


def test_secrets_are_not_committed() -> None:
    """`git add` would take a team's filled-in copy of .env.example."""
    assert ".env" in (CHECKOUT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_a_team_runs_what_everybody_runs_and_a_little_more(pins: Pins) -> None:
    """Else the image's second install changes what the first has brought, or has not what pyproject.toml asks for."""
    base, team = pins["requirements.txt"], pins["requirements-team.txt"]
    extra = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    required = {re.match(r"[\w-]+", requirement)[0] for requirement in extra["team"]}
    assert base.items() <= team.items()
    assert required <= team.keys() - base.keys()
