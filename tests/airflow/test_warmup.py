"""What long-lived processes import before they fork others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes.installation import Installation, instant_definition

from plimsoll_airflow import warmup

CHECKOUT = Path(__file__).resolve().parents[2]

_PARSE_AFTER_WARMING_UP = """
import sys
from plimsoll_airflow import warmup
warmup.warm_up()
from airflow.dag_processing.dagbag import DagBag
known = set(sys.modules)
bag = DagBag(dag_folder="dags")
assert not bag.import_errors and "cell" in bag.dags, bag.import_errors
print("new:", *sorted(name for name in set(sys.modules) - known if not name.startswith("unusual_prefix")))
"""


def test_dag_files_import_nothing_that_was_not_imported_before_the_fork(installation: Installation) -> None:
    installation.define(instant_definition())
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}

    parsed = subprocess.run(
        [sys.executable, "-c", _PARSE_AFTER_WARMING_UP],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=CHECKOUT,
        env=environment,
    )

    assert parsed.returncode == 0, parsed.stderr
    assert parsed.stdout.splitlines()[-1].strip() == "new:"


class Job:
    """Airflow calls listeners while it makes this, before it is known whose job it is."""


@pytest.mark.parametrize(
    ("component", "program", "calls"),
    [
        (Job(), ["airflow", "scheduler", "--skip-serve-logs"], ["all", "tasks"]),
        (Job(), ["airflow", "triggerer"], ["all"]),
        (object(), ["airflow", "scheduler"], []),
    ],
)
def test_only_the_scheduler_imports_what_only_tasks_need(
    monkeypatch: pytest.MonkeyPatch, component: object, program: list[str], calls: list[str]
) -> None:
    made: list[str] = []
    monkeypatch.setattr(warmup, "warm_up", lambda: made.append("all"))
    monkeypatch.setattr(warmup, "warm_up_for_tasks", lambda: made.append("tasks"))
    monkeypatch.setattr(sys, "argv", program)

    warmup.on_starting(component)

    assert made == calls


def test_the_plugin_brings_the_warm_up_to_airflow() -> None:
    from airflow.listeners.listener import get_listener_manager

    assert warmup in get_listener_manager().pm.get_plugins()
