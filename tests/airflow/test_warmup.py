"""What long-lived processes import before they fork others."""

import os
import subprocess
import sys

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.processes import CHECKOUT, SOURCES

from plimsoll_airflow import lifecycle

_PARSE_AFTER_WARMING_UP = """
import sys
from plimsoll_airflow import lifecycle
lifecycle.warm_up()
from tests.support.airflow.dag_bag import DagBag
known = set(sys.modules)
bag = DagBag(dag_folder="dags")
assert not bag.import_errors and "cell" in bag.dags, bag.import_errors
print("new:", *sorted(name for name in set(sys.modules) - known if name.startswith("plimsoll")))
"""

_USE_AWS_AFTER_WARMING_UP = """
import sys
from plimsoll_airflow import lifecycle
lifecycle.warm_up()
from plimsoll_airflow.wiring.secrets import AirflowSecrets
known = set(sys.modules)
for service in ("s3", "ec2"):
    AirflowSecrets().aws("somewhere").client(service, "us-east-1")
print("new:", *sorted(name for name in set(sys.modules) - known if name.startswith(("boto", "airflow.providers"))))
"""
_CHECK_AFTER_WARMING_UP = """
import sys
from tests.support.campaigns import sound_attempt as sound
from tests.support.resolved import only_part
from plimsoll_airflow import lifecycle
lifecycle.warm_up()
lifecycle.warm_up_for_tasks()
known = set(sys.modules)
from plimsoll.quality.attempt_checks import check_attempt
assert check_attempt(only_part(sound.definition()), sound.CELL, sound.measured()).reasons == ()
heavy = ("great_expectations", "numpy", "pandas", "scipy")
late = {"pandas._libs.hashing", "pandas.core.util.hashing"}  # of pandas 2, and light
print("new:", *sorted(name for name in set(sys.modules) - known - late if name.startswith(heavy)))
"""
_READ_DEFINITIONS_AFTER_WARMING_UP = """
from plimsoll_airflow import lifecycle
lifecycle.warm_up_for_tasks()
from plimsoll.bootstrap import load_definition
from plimsoll.services.definitions import reference
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.settings import Settings
from plimsoll_airflow.wiring.core import toolkit
parsed, parse_yaml = [], reference.parse_yaml
reference.parse_yaml = lambda *given, **named: parsed.append(given) or parse_yaml(*given, **named)
campaign = CampaignStore(toolkit().store, "campaign")
campaign.open(load_definition(Settings(), "instant"))
assert campaign.declared().name == "instant"
print("parsed:", *parsed)
"""
_SOMEWHERE = '{"conn_type": "aws", "login": "an-access-key", "password": "a-secret-key"}'


def test_dag_files_import_nothing_of_plimsoll_that_was_not_imported_before_the_fork(
    installation: Installation,
) -> None:
    installation.define(instant_definition())
    assert _said(_PARSE_AFTER_WARMING_UP)[-1] == "new:"


def test_a_client_of_aws_imports_nothing_either_where_the_store_is_there() -> None:
    changes = {"PLIMSOLL_STORE": "s3://bucket/runs", "AIRFLOW_CONN_SOMEWHERE": _SOMEWHERE}
    assert _said(_USE_AWS_AFTER_WARMING_UP, **changes)[-1] == "new:"


def test_tasks_import_nothing_heavy_to_check_an_attempt() -> None:
    assert _said(_CHECK_AFTER_WARMING_UP)[-1] == "new:"


def test_tasks_parse_no_definition_that_the_scheduler_has_read(installation: Installation) -> None:
    installation.define(instant_definition())
    assert _said(_READ_DEFINITIONS_AFTER_WARMING_UP)[-1] == "parsed:"


def _said(program: str, **changes: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": SOURCES, **changes},
    )
    assert done.returncode == 0, done.stderr
    return [line.strip() for line in done.stdout.splitlines()]


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
    monkeypatch.setattr(lifecycle, "warm_up", lambda: made.append("all"))
    monkeypatch.setattr(lifecycle, "warm_up_for_tasks", lambda: made.append("tasks"))
    monkeypatch.setattr(sys, "argv", program)

    lifecycle.on_starting(component)

    assert made == calls


def test_the_plugin_brings_the_warm_up_to_airflow() -> None:
    from airflow.listeners.listener import get_listener_manager

    assert lifecycle in get_listener_manager().pm.get_plugins()
