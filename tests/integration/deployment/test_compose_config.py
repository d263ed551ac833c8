"""Compose's own word on docker-compose.yaml: `docker compose config`, which takes no engine."""

import json
import re
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.support.suite.requirements import needs

CHECKOUT = Path(__file__).resolve().parents[3]
FOUND = find_spec("compose")
VALUE = "00ff"

pytestmark = needs(FOUND is not None, "Compose comes as a wheel for x86_64 alone")


def compose(folder: Path, settings: Mapping[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run it with a file of variables, and nothing else in the environment."""
    assert FOUND is not None
    assert FOUND.origin is not None
    variables = folder / "variables"
    variables.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    files = ["--file", str(CHECKOUT / "docker-compose.yaml"), "--env-file", str(variables)]
    command = [str(Path(FOUND.origin).with_name("docker-compose")), *files, *arguments]
    return subprocess.run(command, env={}, capture_output=True, text=True, timeout=60, check=False)


def required() -> dict[str, str]:
    """Return the variables that .env.example leaves to be filled in, filled in."""
    names = re.findall(r"^(\w+)=$", (CHECKOUT / ".env.example").read_text(encoding="utf-8"), re.MULTILINE)
    return dict.fromkeys(names, VALUE)


def test_it_is_accepted_without_a_word_once_the_example_is_filled_in(tmp_path: Path) -> None:
    done = compose(tmp_path, required(), "--profile", "tools", "config", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("missing", required())
def test_a_missing_secret_is_an_error_that_names_it(tmp_path: Path, missing: str) -> None:
    done = compose(tmp_path, {**required(), missing: ""}, "config", "--quiet")
    assert done.returncode != 0
    assert f"required variable {missing} is missing a value: set it in .env" in done.stderr


def test_what_it_would_run_has_the_values_where_they_belong(tmp_path: Path) -> None:
    variables = {**required(), "WORKER_CONCURRENCY": "7", "CAMPAIGNS_FOLDER": str(tmp_path)}
    done = compose(tmp_path, variables, "config", "--format", "json")
    services: dict[str, Any] = json.loads(done.stdout)["services"]
    worker = services["worker"]
    assert worker["environment"]["AIRFLOW__CELERY__WORKER_CONCURRENCY"] == "7"
    assert worker["environment"]["AIRFLOW__CELERY__BROKER_URL"] == f"redis://:{VALUE}@redis:6379/0"
    assert str(tmp_path) in {volume["source"] for volume in worker["volumes"]}
    assert worker["depends_on"]["api-server"]["condition"] == "service_healthy"
    assert {service["build"]["context"] for service in services.values() if "build" in service} == {str(CHECKOUT)}
